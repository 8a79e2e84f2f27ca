/** The control words of RTF that begin destinations, or stand for characters. */

/** Destinations that are fields of the document's description. */
export const INFO = new Set(["title", "author"]);

/** Destinations that are read, by the control words that begin them. */
export const DESTINATIONS: Readonly<Record<string, string>> = {
  title: "title",
  author: "author",
  stylesheet: "stylesheet",
  fonttbl: "fonttbl",
  listtext: "listtext",
  pntext: "listtext",
};

/** Destinations without text of the document. */
export const SKIPPED = new Set(
  (
    "colortbl info pict object objdata themedata colorschememapping latentstyles datastore generator " +
    "listtable listoverridetable rsidtbl xmlnstbl mmathPr header headerl headerr headerf footer footerl " +
    "footerr footerf fldinst bkmkstart bkmkend nonshppict filetbl revtbl pnseclvl operator company " +
    "category keywords subject comment doccomm creatim revtim printim buptim pgdsctbl panose falt ftnsep " +
    "ftnsepc aftnsep aftnsepc sp xe tc"
  ).split(" "),
);

/** Destinations after `\*` that hold text of the document. */
export const STARRED_TEXT = new Set(["shptxt", "fldrslt", "atrfstart", "annotation", "shppict"]);

/** Control words and symbols that stand for characters. */
export const CHARACTERS: Readonly<Record<string, string>> = {
  tab: "\t",
  line: "\n",
  emdash: "—",
  endash: "–",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  emspace: "\u2003",
  enspace: "\u2002",
  "~": "\u00a0",
  _: "‑",
  "\n": "\n",
  "\r": "\n",
};
