/** What the routes of pages and their files share: people open them, and no API document has them. */
export const HIDDEN_PAGE = {
  isUnversioned: true,
  isDocumented: false,
  access: "public",
} as const;

/** The longest path of a file below such a page. */
export const MAX_FILE_PATH = 500;
