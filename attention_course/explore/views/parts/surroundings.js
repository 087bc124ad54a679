// What changes around a view: the page's colours, and the view's own width.

/** @type {(root: HTMLElement, recolour: () => void, refit: () => void) => () => void} */
export const watchSurroundings = (root, recolour, refit) => {
  // Pages and Jupyter switch between light and dark by an attribute; other attributes tell that the reader scrolls.
  const readInk = () => getComputedStyle(root).getPropertyValue("--explorer-ink");
  let ink = readInk();
  const theme = new MutationObserver(() => {
    if (readInk() === ink) return;
    ink = readInk();
    recolour();
  });
  for (const element of [document.documentElement, document.body]) theme.observe(element, { attributes: true });
  let width = root.clientWidth;
  const fit = () => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    refit();
  };
  // In the next frame: a layout inside the observer changes what it observes, which Firefox calls an error.
  const size = new ResizeObserver(() => requestAnimationFrame(fit));
  size.observe(root);
  return () => {
    theme.disconnect();
    size.disconnect();
  };
};
