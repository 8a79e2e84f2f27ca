/** Turns rectangles of a page into fractions of the page as it is shown. */

import type { Box } from "../../../domain/locations/location.ts";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The clockwise angle by which the text appears rotated on the page as it is shown. */
export type Turn = 0 | 90 | 180 | 270;

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Default: 0. Else the rectangles are those of the page turned back until its text is upright. */
  readonly turn?: Turn;
}

/** Undefined for a rectangle without area on the page, or one that is damaged. */
export function boxOf({ x, y, width, height }: Rectangle, frame: Frame): Box | undefined {
  const upright = [
    x / frame.width,
    y / frame.height,
    (x + width) / frame.width,
    (y + height) / frame.height,
  ] as const;
  const box = turned(upright, frame.turn ?? 0).map((side) => Math.min(Math.max(side, 0), 1));
  const [left = 0, top = 0, right = 0, bottom = 0] = box;
  return right > left && bottom > top ? [left, top, right, bottom] : undefined;
}

function turned([left, top, right, bottom]: Box, turn: Turn): Box {
  if (turn === 90) return [1 - bottom, left, 1 - top, right];
  if (turn === 180) return [1 - right, 1 - bottom, 1 - left, 1 - top];
  return turn === 270 ? [top, 1 - right, bottom, 1 - left] : [left, top, right, bottom];
}

/** The smallest rectangle around all of them; undefined if there are none. */
export function unionOf(rectangles: readonly Rectangle[]): Rectangle | undefined {
  const [first, ...rest] = rectangles;
  if (first === undefined) return undefined;
  let { x, y } = first;
  let right = x + first.width;
  let bottom = y + first.height;
  for (const other of rest) {
    x = Math.min(x, other.x);
    y = Math.min(y, other.y);
    right = Math.max(right, other.x + other.width);
    bottom = Math.max(bottom, other.y + other.height);
  }
  return { x, y, width: right - x, height: bottom - y };
}

/** True if the two are beside each other: half of the lower one's height is beside the other one. */
export function isBeside(one: Rectangle, other: Rectangle): boolean {
  const shared = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return shared >= Math.min(one.height, other.height) / 2;
}
