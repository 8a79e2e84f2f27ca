/** Reads what a PDF says about itself: dates and the XMP packet. */

import type { ExtractedMetadata } from "../../domain/text-unit.ts";
import { storableText } from "../parser.ts";

const PDF_DATE = /^D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:(Z)|([+-])(\d{2})'?(\d{2})?)?/;

/** A date like `D:20230112174637+01'00'` in ISO 8601 and UTC, its default zone; undefined if it is none. */
export function pdfDateAsIso(value: string | undefined): string | undefined {
  const match = PDF_DATE.exec(value ?? "");
  if (match === null) return undefined;
  const [
    ,
    year,
    month = "01",
    day = "01",
    hour = "00",
    minute = "00",
    second = "00",
    ,
    sign,
    zoneHour = "00",
    zoneMinute = "00",
  ] = match;
  const zone = sign === undefined ? "Z" : `${sign}${zoneHour}:${zoneMinute}`;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Title, authors and language of an XMP packet, by their names in the Dublin Core. */
export function xmpMetadata(xmp: string): ExtractedMetadata {
  const title = listItems(xmp, "dc:title")[0];
  const author = listItems(xmp, "dc:creator").join(", ");
  const language = listItems(xmp, "dc:language")[0];
  return {
    ...(title === undefined ? {} : { title }),
    ...(author === "" ? {} : { author }),
    ...(language === undefined ? {} : { language }),
  };
}

function listItems(xmp: string, property: string): string[] {
  const start = xmp.indexOf(`<${property}>`);
  const end = xmp.indexOf(`</${property}>`, start);
  if (start < 0 || end < 0) return [];
  const items = xmp.slice(start, end).matchAll(/<rdf:li\b[^<>]*>([^<]*)</g);
  return [...items]
    .map((item) => storableText(unescapeXml(item[1] ?? "")).trim())
    .filter((item) => item !== "");
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (entity, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}
