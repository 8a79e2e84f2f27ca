/** Names a place in the log of an organization, in a text that callers keep and do not read. */

/** The longest cursor, with both numbers at the end of their range. */
const MAX_CURSOR_CHARACTERS = 64;

const FORM = /^1:(0|[1-9]\d{0,15}):(0|[1-9]\d{0,15})$/;

/** The cursor after the event at `position`, of the organization with the number `organizationNum`. */
export function cursorOf(organizationNum: number, position: number): string {
  return Buffer.from(`1:${organizationNum}:${position}`).toString("base64url");
}

/** @returns null for what is no cursor, or one of another organization. */
export function positionIn(cursor: string, organizationNum: number): number | null {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return null;
  const match = FORM.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  const position = Number(match?.[2]);
  const isOwn = Number(match?.[1]) === organizationNum && Number.isSafeInteger(position);
  // Decoding skips what is not of its alphabet, so that several texts would name one place.
  return isOwn && cursorOf(organizationNum, position) === cursor ? position : null;
}
