// The folds of a page: one button opens and closes all of them, and on paper they are open.
(() => {
  const folds = /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll("details.fold")]);

  /** @param {boolean} open */
  const openAll = (open) => folds.forEach((fold) => (fold.open = open));
  const allOpen = () => folds.every((fold) => fold.open);

  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-sm course-button show-all-code";
  button.innerHTML =
    '<i class="fa-solid fa-code" aria-hidden="true"></i> <span class="course-button__text">Show all code</span>';
  const tellState = () => button.setAttribute("aria-pressed", String(allOpen()));
  tellState();
  button.addEventListener("click", () => openAll(!allOpen()));
  folds.forEach((fold) => fold.addEventListener("toggle", tellState));
  document.querySelector(".article-header-buttons")?.prepend(button);

  /** @type {HTMLDetailsElement[]} */
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = folds.filter((fold) => !fold.open);
    openAll(true);
  });
  addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));
})();
