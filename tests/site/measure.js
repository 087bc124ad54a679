// Run in a page by conftest.py: what a reader would see, as numbers that a test can hold.
async () => {
  const luminance = (red, green, blue) => {
    const linear = [red, green, blue].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };

  // The ground of an image, which is its corner, and how far its darkest pixel is from its lightest, as they are
  // shown, CSS filters included.
  const range = (image) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const { filter } = getComputedStyle(image);
    if (filter !== "none") context.filter = filter;
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const values = [];
    for (let i = 0; i < data.length; i += 4 * 101) values.push(luminance(data[i], data[i + 1], data[i + 2]));
    values.sort((a, b) => a - b);
    return [luminance(data[0], data[1], data[2]), values.at(-1) - values[0]];
  };

  const tooWide = [...document.querySelectorAll("main *")].filter((element) => {
    const box = element.getBoundingClientRect();
    const scroller = element.closest("pre, table, .katex-display, .course-scroll, .cell_output, .highlight");
    return box.width > 0 && box.right > innerWidth + 1 && !(scroller && scroller.getBoundingClientRect().right <= innerWidth + 1);
  });

  const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number);
  return {
    overflow: document.documentElement.scrollWidth > innerWidth ? ["the page", ...tooWide.map((e) => e.outerHTML.slice(0, 120))] : [],
    background: luminance(red, green, blue),
    squashed: [...document.querySelectorAll("main img:not([hidden])")]
      .filter((e) => Math.abs((e.clientWidth * e.naturalHeight) / (e.clientHeight * e.naturalWidth) - 1) > 0.02)
      .map((e) => e.alt),
    figures: [...document.querySelectorAll(".cell_output img:not([hidden])")].map(range),
    // Those of the glossary's pop-ups are hidden: no font is loaded for them.
    formulas: [...document.querySelectorAll(".math")].filter((e) => !e.closest(".course-entry")).length,
    unrendered_formulas: [...document.querySelectorAll(".math")].filter((e) => !e.querySelector(".katex-html") || e.querySelector(".katex-error")).map((e) => e.textContent.slice(0, 80)),
    fonts: [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family.replaceAll('"', "")),
    explorers: document.querySelectorAll(".course-explorer").length,
    mounted_explorers: document.querySelectorAll(".course-explorer-view").length,
  };
};
