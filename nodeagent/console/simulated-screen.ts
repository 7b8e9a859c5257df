// Simulates the screen of a VM: one black pixel.

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

/** Returns the screen as PNG. */
export function simulatedScreen(): Uint8Array {
  return Uint8Array.from(atob(PIXEL), (mark) => mark.charCodeAt(0));
}
