/** Leads from a part that this page had before to where it stands now. */

/** @type {Record<string, string>} */
const PARTS = JSON.parse(/** @type {HTMLScriptElement} */ (document.currentScript).dataset.parts ?? "{}");

const leadOn = () => {
  if (Object.hasOwn(PARTS, location.hash)) location.replace(PARTS[location.hash]);
};

addEventListener("hashchange", leadOn);
leadOn();
