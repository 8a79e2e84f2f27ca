/** Serializes a handler's answer by the route's schema, lists with pauses for other requests. */
import { setImmediate as pause } from "node:timers/promises";
import { z } from "zod";

/** After this many characters, and never within an element, the event loop gets to other work. */
export const PIECE_CHARACTERS = 65_536;

/** A list that comes in parts; the next part is requested after the one before has been written. */
export type Parts<Item = unknown> = AsyncIterable<readonly Item[]>;

/** A schema in two: the fields that are written at once, and the elements of each list. */
interface Layout {
  readonly head: z.ZodType;
  readonly elements: Readonly<Record<string, z.ZodType>>;
}

const layouts = new WeakMap<z.ZodObject, Layout>();

function layoutOf(schema: z.ZodObject): Layout {
  const known = layouts.get(schema);
  if (known !== undefined) return known;
  const lists = Object.entries(schema.shape).flatMap(([name, field]) =>
    field instanceof z.ZodArray ? [[name, field.element as z.ZodType] as const] : [],
  );
  const elements = Object.fromEntries(lists);
  const head = z.object(
    Object.fromEntries(Object.entries(schema.shape).filter(([name]) => !(name in elements))),
  );
  const layout = { head, elements };
  layouts.set(schema, layout);
  return layout;
}

/**
 * Yields the text of `JSON.stringify(schema.parse(value))` in pieces. Lists of the outermost object are
 * parsed element by element, and may come in parts.
 * @throws ZodError if the value does not fit the schema; earlier pieces have been yielded by then.
 */
export async function* jsonPieces(schema: z.ZodType, value: unknown): AsyncGenerator<string> {
  if (!(schema instanceof z.ZodObject) || typeof value !== "object" || value === null) {
    yield JSON.stringify(schema.parse(value));
    return;
  }
  const { head, elements } = layoutOf(schema);
  const fields = head.parse(value) as Record<string, unknown>;
  let text = "";
  for (const name of Object.keys(schema.shape)) {
    const element = elements[name];
    const field = element === undefined ? JSON.stringify(fields[name]) : "[";
    if (field === undefined) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(name)}:${field}`;
    if (element === undefined) continue;
    text = yield* withList(text, element, (value as Record<string, unknown>)[name]);
    text += "]";
  }
  yield `${text === "" ? "{" : text}}`;
}

/** Yields the text whenever it is long enough for a piece. @returns the rest. */
async function* withList(before: string, element: z.ZodType, list: unknown): AsyncGenerator<string, string> {
  let text = before;
  let separator = "";
  for await (const part of partsOf(list, element)) {
    for (const item of part) {
      text += separator + JSON.stringify(element.parse(item));
      separator = ",";
      if (text.length < PIECE_CHARACTERS) continue;
      yield text;
      text = "";
      await pause();
    }
  }
  return text;
}

/** @throws ZodError if it is not a list. */
function partsOf(list: unknown, element: z.ZodType): Parts | Iterable<readonly unknown[]> {
  const comesInParts = typeof list === "object" && list !== null && Symbol.asyncIterator in list;
  return comesInParts ? (list as Parts) : [Array.isArray(list) ? list : z.array(element).parse(list)];
}
