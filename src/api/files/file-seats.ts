/** Bounds callers' files in the making, waiting ones too: a seat comes before anything is fetched. */
import { type Seats, createSeats } from "../../process/concurrency/seats.ts";

export type PageSeats = Seats<"page">;
export type InputFileSeats = Seats<"input_file">;

export interface FileSeats {
  readonly pages: PageSeats;
  readonly inputFiles: InputFileSeats;
  counts(): Readonly<Record<"page" | "input_file", number>>;
}

export function createFileSeats(): FileSeats {
  const pages = createSeats({
    kinds: ["page"],
    most: { user: 8, organization: 32, process: 64 },
    of: "pages",
    refusal: "Too many pages being rendered",
    // Most pages take some 30 ms.
    retryAfterSeconds: 1,
  });
  const inputFiles = createSeats({
    kinds: ["input_file"],
    // A request holds little while it waits, and takes one seat at a time.
    most: { user: 10, organization: 64, process: 128 },
    of: "input-files",
    refusal: "Too many requests with files waiting or being read",
    retryAfterSeconds: 5,
  });
  return { pages, inputFiles, counts: () => ({ ...pages.counts(), ...inputFiles.counts() }) };
}
