// Numbers and shares as texts.

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function percent(share, digits = 1) {
  return `${(100 * share).toFixed(digits)}%`;
}
