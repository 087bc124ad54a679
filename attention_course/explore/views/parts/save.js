// Gives the reader a file, without a server: a link to it that clicks itself.

const A_WHILE = 60_000; // milliseconds: a browser may still be reading when the click returns

/** @type {(blob: Blob, name: string) => void} */
export const save = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link); // Firefox follows only links that are part of the page
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), A_WHILE);
};
