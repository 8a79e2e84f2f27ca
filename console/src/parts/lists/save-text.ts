/** Lets the browser save a text as a file. */
export function saveText(text: string, fileName: string, type = "text/plain"): void {
  saveBlob(new Blob([text], { type }), fileName);
}

export function saveBlob(blob: Blob, fileName: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  // The browser has taken the blob over by the next task.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
