// What the page knows: the view that linkwise sent last.

export const store = { view: null };

// Return the colour of a region, and the region of a stroke's colour.
export const colourOf = (region) => store.view.palette[(region - 1) % store.view.palette.length];
export const regionOf = (colour) => store.view.values[colour] ?? Number(colour);

// Until something is asked for, the page shows the image without regions.
export const isAsked = () => store.view.strokes.length > 0 || store.view.k !== null;

// Return the name of a brush, undefined if it has none.
export const nameOf = (colour) =>
  Object.hasOwn(store.view.names, colour) ? store.view.names[colour] : undefined;
