/**
 * The keys of a picture whose parts are chosen one after the other, from 0 to `last`: arrows, Home and End. `row` is how
 * far up and down go.
 */
export function sliderKeys(at: number, last: number, choose: (place: number, event: KeyboardEvent) => void, row = 1) {
  return (event: KeyboardEvent): void => {
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      ArrowDown: row === 1 ? at - 1 : at + row,
      ArrowUp: row === 1 ? at + 1 : at - row,
      Home: 0,
      End: last,
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(last, next)), event);
  };
}

/** Where in a picture of this many equal columns a pointer is. */
export function columnAt(event: PointerEvent, columns: number): number {
  const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
  return Math.max(0, Math.min(columns - 1, Math.floor(((event.clientX - left) / width) * columns)));
}
