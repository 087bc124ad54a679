// Marks a saved page light or dark, as the reader's system is, now and whenever that changes: views follow the mark.
// Paper is light.

const [dark, print] = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
const mark = () => (document.documentElement.dataset.theme = dark.matches && !print.matches ? "dark" : "light");
for (const query of [dark, print]) query.addEventListener("change", mark);
mark();
