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

// The first time that a reader moves, touches, scrolls or presses something. (What scrolls within the page, as the list
// of pages does when the theme shows its place, tells the window nothing.)
const SIGNS = ["pointermove", "pointerdown", "wheel", "scroll", "keydown", "focusin"];
export const firstSign = () =>
  new Promise((done) => {
    for (const sign of SIGNS) addEventListener(sign, done, { once: true, passive: true });
  });

export const isFile = (/** @type {string} */ checkpoint) => checkpoint.endsWith(".js");

/** @type {(address: string) => Promise<unknown>} */
const addScript = (address) =>
  new Promise((done, fail) => {
    const script = document.createElement("script");
    [script.src, script.onload, script.onerror] = [address, done, fail];
    document.head.append(script);
  });

// A file's name is the beginning of its weights' checksum, which a page that came unencrypted cannot compute.
/** @type {(weights: string, name: string) => Promise<boolean>} */
const areIntact = async (weights, name) => {
  if (!crypto.subtle) return true;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(weights));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("").startsWith(name);
};

const nameIn = (/** @type {string} */ checkpoint) => checkpoint.replace(/^.*\/|\.js$/g, "");

// Has damaged weights asked for again.
/** @type {(checkpoint: string) => void} */
export const forget = (checkpoint) => {
  delete globalThis.courseModels?.[nameIn(checkpoint)];
};

// A page opened from a folder may fetch nothing, but load scripts: the file is one, which keeps the weights by its name.
/** @type {(checkpoint: string) => Promise<string>} */
export const load = async (checkpoint) => {
  if (!isFile(checkpoint)) return checkpoint;
  await pageLoaded();
  const name = nameIn(checkpoint);
  if (!globalThis.courseModels?.[name]) await addScript(checkpoint);
  const weights = globalThis.courseModels?.[name]; // none where a server answers with another page
  if (weights && (await areIntact(weights, name))) return weights;
  forget(checkpoint);
  throw new Error(`${checkpoint} did not arrive whole`);
};
