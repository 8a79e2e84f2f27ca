/** Contract of where text stands in its file. The fields are those of `Location` in src/domain/locations. */
import { z } from "zod";
import { field } from "./field.ts";

const Fraction = z.number().min(0).max(1);

const Location = z
  .object({
    page: z.int().min(1).optional().meta({
      description: "The page of a PDF or a picture, from 1",
      example: 3,
    }),
    boxes: z
      .array(z.array(Fraction).min(4).max(4))
      .optional()
      .meta({
        description:
          "A box for each line of the text: `[left, top, right, bottom]` in fractions of the page as it is " +
          "shown, from its upper left corner",
        example: [[0.12, 0.31, 0.88, 0.33]],
      }),
    slide: z.int().min(1).optional().meta({
      description: "The slide of a presentation, from 1",
      example: 2,
    }),
    shape: field.optionalText("The shape on the slide, as the presentation names it", "Title 1"),
    sheet: field.optionalText("The sheet of a spreadsheet", "Prices"),
    range: field.optionalText("The cells, as spreadsheets name them", "A2:D9"),
    lines: z
      .array(z.int().min(1))
      .min(2)
      .max(2)
      .optional()
      .meta({ description: "The first and the last line of the file, from 1", example: [12, 18] }),
    heading_path: z
      .array(z.string())
      .optional()
      .meta({ description: "The headings above it, outermost first", example: ["Report", "Results"] }),
    element: field.optionalText(
      "The element of the file, and which of those with its name it is, from 1",
      "p[12]",
    ),
    part: field.optionalText("The part of a mail, an archive or a book", "attachment 2: report.docx"),
  })
  .meta({
    id: "Location",
    description: "Where text stands in its file. A field is absent if it is unknown or the format has none",
  });

/** A field of whatever shows text of a document. */
export const Locations = z
  .array(Location)
  .optional()
  .meta({
    description:
      "Where the text stands in the file, in its order; absent: unknown, as for formats without pages, lines or " +
      "the like, and versions that were made before 0.9.0",
    example: [{ page: 3, boxes: [[0.12, 0.31, 0.88, 0.33]], heading_path: ["Report", "Results"] }],
  });
