/** Contract of a document's pages: their sizes, and how they are shown. */
import { z } from "zod";
import { field } from "../field.ts";
import { MAX_RECEIPT_CHARACTERS } from "../../domain/receipts/claims.ts";
import { MAX_PICTURE_WIDTH, PICTURE_FORMATS } from "../../domain/locations/page-picture.ts";
import { envelope, FilePart, pageQuery } from "../fields.ts";

const Version = z.int().min(1).max(2_147_483_647).optional().meta({
  description:
    "The version whose file is meant; default: the published one or, before the first is published, the latest",
  example: 2,
});

export const PageNumber = z.int().min(1).max(2_147_483_647);

const Side = (what: string, example: number) =>
  z
    .number()
    .nullable()
    .meta({
      description:
        `${what} of the page as it is shown, cropped and turned: points (1/72 inch) of a PDF, pixels of a ` +
        "picture; null: the page cannot be read",
      example,
    });

const PageSize = z
  .object({
    number: field.integer("Which page it is, from 1", 1),
    width: Side("Width", 612),
    height: Side("Height", 792),
  })
  .meta({ id: "PageSize" });

export const PageSizePage = envelope(PageSize, "PageSizePage");
export const PagesQuery = pageQuery().extend({ version: Version });

const DEFAULT_WIDTH = 1_000;
/** The id of a chunk, or a compact JWS. */
const CHUNK_OR_RECEIPT =
  /^(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[\w-]+\.[\w-]+\.[\w-]+)$/;

export const PictureQuery = z.object({
  width: z.int().min(1).max(MAX_PICTURE_WIDTH).default(DEFAULT_WIDTH).meta({
    description: "Pixels of the picture's width; its height follows",
    example: DEFAULT_WIDTH,
  }),
  format: z.enum(PICTURE_FORMATS).default("png").describe("The format of the picture"),
  version: Version,
  highlight: z
    .string()
    .max(MAX_RECEIPT_CHARACTERS)
    .regex(CHUNK_OR_RECEIPT)
    .optional()
    .meta({
      description:
        "The id of a chunk, or the receipt of a citation: what of it stands on this page is highlighted. Without " +
        "`version` the page is shown from the version that has the chunk, or that was cited",
      example: "31000000-0000-7000-8000-000000000001",
    }),
});

export const PictureContent = FilePart;
