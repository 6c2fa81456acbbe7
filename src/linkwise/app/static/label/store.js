// What the page knows: the view that linkwise sent last, and the cluster of every row on the map.

export const store = { view: null, labels: null };
