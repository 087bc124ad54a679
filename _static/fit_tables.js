// A table that is wider than its box, as on a phone, is set tighter, and if need be in broken words.
addEventListener("course-fit", () => {
  const boxes = document.querySelectorAll(".pst-scrollable-table-container, .cell_output .text_html");
  for (const box of boxes) {
    const table = box.querySelector("table");
    if (!table) continue;
    table.classList.remove("table-tight", "table-broken");
    for (const step of ["table-tight", "table-broken"]) {
      table.classList.toggle(step, box.scrollWidth > box.clientWidth);
    }
  }
});
