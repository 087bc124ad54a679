// A model's weights: in the page, or in a file of their own that is loaded when the reader comes to the explorer.

// What a page loads of itself comes first.
const pageLoaded = () =>
  new Promise((done) => (document.readyState === "complete" ? done(null) : addEventListener("load", done, { once: true })));

/** @type {(element: Element, act: () => void) => () => void} */
export const whenSeen = (element, act) => {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      act();
    },
    { rootMargin: "300px" },
  );
  observer.observe(element);
  return () => observer.disconnect();
};

// A page opened from a folder may fetch nothing, but load scripts: the file is one, which keeps the weights by its name.
/** @type {(checkpoint: string) => Promise<string>} */
export const load = async (checkpoint) => {
  if (!checkpoint.endsWith(".js")) return checkpoint;
  await pageLoaded();
  const name = checkpoint.replace(/^.*\/|\.js$/g, "");
  return new Promise((done, fail) => {
    const found = () => globalThis.courseModels?.[name];
    const here = found();
    if (here) return done(here);
    const script = document.createElement("script");
    script.src = checkpoint;
    script.onload = () => {
      const weights = found(); // none where a server answers with another page
      return weights ? done(weights) : fail();
    };
    script.onerror = fail;
    document.head.append(script);
  });
};
