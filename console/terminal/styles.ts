// xterm writes its theme into style elements, which the content security policy refuses. Constructed style sheets are
// allowed, so they replace these elements while the terminal opens.

/** Runs `make`; the style elements that it creates become constructed style sheets. */
export function withSheets(make: () => void): void {
  const createElement = document.createElement;
  const stand = (name: string, options?: ElementCreationOptions) =>
    name === "style" ? styleStand(createElement) : createElement.call(document, name, options);
  // The DOM declares one overload for each element name; this function accepts all element names.
  document.createElement = stand as typeof createElement;
  try {
    make();
  } finally {
    document.createElement = createElement;
  }
}

function styleStand(createElement: typeof document.createElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const stand = createElement.call(document, "template");
  Object.defineProperty(stand, "textContent", { set: (text: string) => sheet.replaceSync(text), get: () => "" });
  Object.defineProperty(stand, "remove", {
    value: () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    },
  });
  return stand;
}
