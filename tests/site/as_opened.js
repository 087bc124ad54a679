// Run in a page before anything is opened: where the exercises begin and where the first picture ends, in pixels from
// the top of the page; null where there are none.
() => {
  const top = (element) => element && element.getBoundingClientRect().top + scrollY;
  const pictures = [...document.querySelectorAll(".bd-article .cell_output :is(img, svg, .course-explorer)")];
  const first = pictures.find((picture) => picture.getBoundingClientRect().height > 50);
  const headings = [...document.querySelectorAll(".bd-article h2")];
  return {
    exercises: top(headings.find((heading) => heading.textContent.startsWith("Exercises"))) ?? null,
    picture: first ? first.getBoundingClientRect().bottom + scrollY : null,
  };
};
