/** A name that any file system takes. */
export const fileNameOf = (name: string, ending: string): string =>
  `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80)}.${ending}`;
