// A table that is wider than its box, as on a phone, is set tighter; the stylesheet says how.
const fitTables = () => {
  const boxes = document.querySelectorAll(".pst-scrollable-table-container, .cell_output .text_html");
  for (const box of boxes) {
    const table = box.querySelector("table");
    if (!table) continue;
    table.classList.remove("table-tight");
    table.classList.toggle("table-tight", box.scrollWidth > box.clientWidth);
  }
};

addEventListener("load", fitTables);
addEventListener("resize", fitTables);
document.addEventListener("toggle", fitTables, true);
