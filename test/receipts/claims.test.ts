import { expect, it } from "vitest";
import type { Box, Location } from "../../src/domain/locations/location.ts";
import { MAX_RECEIPT_CHARACTERS } from "../../src/domain/receipts/claims.ts";
import { claimsOf, newSalt, numberedLocations } from "../../src/receipts/claims.ts";
import { createSigningKey, keyIdOf, signClaims } from "../../src/receipts/signature.ts";
import { CHUNK_TEXT, statement } from "../support/receipts/statements.ts";

const NAMED: Location = {
  page: 4,
  shape: "Fee",
  sheet: "Salaries",
  heading_path: ["Secret plan"],
  element: "p[12]",
  part: "attachment 2: offer.docx",
};

it("a receipt has no text of the document or the answer, and no name", () => {
  const given = statement({ locations: [NAMED] });
  const claims = JSON.stringify(claimsOf(given, newSalt(), new Date()));

  const texts = [CHUNK_TEXT, given.sentence, "Salaries", "Secret", "Fee", "p[12]", "offer"];
  expect(texts.filter((text) => claims.includes(text))).toEqual([]);
  expect(JSON.parse(claims)).toMatchObject({ locations: [{ page: 4 }] });
});

it("receipts of the same statement have other hashes and other ids", () => {
  const given = statement();
  const [first, second] = [1, 2].map(() => claimsOf(given, newSalt(), new Date()));

  expect(first!.jti).not.toBe(second!.jti);
  expect(first!.quote_hash).not.toBe(second!.quote_hash);
});

it("locations that differ by names alone are one, and those of names alone are none", () => {
  expect(numberedLocations([NAMED, { ...NAMED, shape: "Other" }, { page: 5 }])).toEqual([
    { page: 4 },
    { page: 5 },
  ]);
  expect(numberedLocations([{ sheet: "Salaries" }, { heading_path: ["Plan"] }])).toEqual([]);
  expect(numberedLocations([{ sheet: "Salaries", range: "B2:D5" }])).toEqual([{ range: "B2:D5" }]);
});

it("the longest receipt is within its bound, and is read", async () => {
  const boxes = Array.from({ length: 40 }, (): Box => [0.12345, 0.23456, 0.34567, 0.45678]);
  const locations = Array.from({ length: 40 }, (_, at) => ({
    page: 10_000 + at,
    slide: 10_000 + at,
    range: "AAAA1048576:ZZZZ1048576",
    lines: [10_000_000, 10_000_001] as const,
    boxes,
  }));
  const large = 99_999_999;
  const given = statement({ locations, start: large, end: large, quoteStart: large, quoteEnd: large });

  const receipt = await signClaims(createSigningKey(), claimsOf(given, newSalt(), new Date()));

  expect(receipt.length).toBeLessThanOrEqual(MAX_RECEIPT_CHARACTERS);
  expect(keyIdOf(receipt)).toBeDefined();
});
