/**
 * Parses server-sent events, also frames that have only an `id`: these move the cursor on without an event,
 * and common parsers pass over them. Lines end with LF or CRLF; what Holdfast sends has no single CR.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

export interface Frame {
  readonly id: string | undefined;
  /** `message` if the frame does not name it. */
  readonly event: string;
  /** Undefined if the frame has none. */
  readonly data: string | undefined;
}

/** Far more than any event has. */
const MAX_FRAME_CHARACTERS = 1_048_576;

/**
 * @returns a function that takes the next piece of the text and returns the frames that it completes.
 * It throws a RangeError for a frame without bounds.
 */
export function createFrameParser(): (text: string) => Frame[] {
  let line = "";
  let id: string | undefined;
  let event = "message";
  let data: string | undefined;

  const takeField = (name: string, value: string): void => {
    if (name === "id") id = value;
    if (name === "event") event = value;
    if (name === "data") data = data === undefined ? value : `${data}\n${value}`;
  };
  const takeFrame = (): Frame[] => {
    const frame = { id, event, data };
    id = undefined;
    event = "message";
    data = undefined;
    return frame.id === undefined && frame.data === undefined ? [] : [frame];
  };

  return (text) => {
    const lines = (line + text).split("\n");
    line = lines.pop()!;
    const frames: Frame[] = [];
    for (const ended of lines) {
      const whole = ended.endsWith("\r") ? ended.slice(0, -1) : ended;
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(whole) ?? [];
      if (whole === "") frames.push(...takeFrame());
      else takeField(name, value);
    }
    if (line.length + (data?.length ?? 0) > MAX_FRAME_CHARACTERS)
      throw new RangeError("An event of the stream is too long.");
    return frames;
  };
}
