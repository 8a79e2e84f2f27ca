/** Places of text: their names, their stored form, and their parts. */

import { describe, expect, test } from "vitest";
import { isPackedPlaces } from "../../../src/domain/locations/checked.ts";
import {
  columnName,
  locationsOf,
  type Place,
  rangeName,
  type Spot,
} from "../../../src/domain/locations/location.ts";
import {
  packedSize,
  packPlaces,
  placeSlicer,
  slicePlaces,
  unpackPlaces,
} from "../../../src/domain/locations/packed.ts";

/** The same numbers in every run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("names of cells", () => {
  test.each([
    [1, "A"],
    [26, "Z"],
    [27, "AA"],
    [52, "AZ"],
    [702, "ZZ"],
    [703, "AAA"],
    [16_384, "XFD"],
  ])("column %i is %s", (column, name) => {
    expect(columnName(column)).toBe(name);
  });

  test("a range of one cell has one name, and others have their corners", () => {
    expect(rangeName([2, 5, 2, 5])).toBe("B5");
    expect(rangeName([2, 2, 4, 5])).toBe("B2:D5");
  });
});

test("locations of stretches that share their context are one, with the range around their cells", () => {
  const row = (from: number, number: number): Place => ({
    from,
    to: from + 9,
    spot: { sheet: "Fruit", cells: [1, number, 3, number] },
  });
  expect(locationsOf([row(0, 4), row(10, 5), { from: 20, to: 25, spot: { sheet: "More" } }])).toEqual([
    { sheet: "Fruit", range: "A4:C5" },
    { sheet: "More" },
  ]);
  expect(locationsOf([row(0, 4), row(10, 5)], 12, 15)).toEqual([{ sheet: "Fruit", range: "A5:C5" }]);
});

describe("packed places", () => {
  const spots: Spot[] = [
    {},
    { lines: [1, 3] },
    { lines: [70_000, 70_129] },
    { sheet: "Größe 数据", cells: [1, 1_048_576, 16_384, 1_048_576] },
    { page: 3, box: [0, 0.25, 0.5, 1] },
    { slide: 2, shape: "Title 1" },
    { element: "p[12]", part: "attachment 1: a.docx" },
    { page: 3 },
  ];

  test("are read as they were written", () => {
    const random = randomNumbers(1);
    for (let round = 0; round < 200; round++) {
      const places: Place[] = [];
      let at = 0;
      for (let count = random(400); count > 0; count--) {
        const from = at + random(3) * random(1_000);
        at = from + 1 + random(300);
        places.push({ from, to: at, spot: spots[random(spots.length)]! });
      }
      const unpacked = unpackPlaces(packPlaces(places));
      expect(unpacked.map(({ from, to }) => [from, to])).toEqual(places.map(({ from, to }) => [from, to]));
      unpacked.forEach(({ spot }, index) => {
        const { box, ...rest } = places[index]!.spot;
        const sides = (box ?? []).map((side) => expect.closeTo(side, 4));
        expect({ ...spot, box: spot.box ?? [] }).toEqual({ ...rest, box: sides });
      });
    }
  });

  test("have each context once", () => {
    const packed = packPlaces([1, 2, 1, 2].map((slide, at) => ({ from: at, to: at + 1, spot: { slide } })));
    expect(packed?.contexts).toEqual([{ slide: 1 }, { slide: 2 }]);
  });

  test("of a table take about ten characters a row", () => {
    const rows = Array.from({ length: 100 }, (_, row): Place => ({
      from: row * 60,
      to: row * 60 + 59,
      spot: { sheet: "S", cells: [1, row + 1, 8, row + 1] },
    }));
    expect(packedSize(packPlaces(rows))).toBeLessThan(1_200);
  });

  test("that are damaged give those before the damage, in finite time", () => {
    const random = randomNumbers(2);
    const good = packPlaces(spots.map((spot, at) => ({ from: at * 10, to: at * 10 + 9, spot })))!;
    const bytes = Buffer.from(good.runs, "base64url");
    for (let round = 0; round < 2_000; round++) {
      const damaged = Buffer.from(bytes.subarray(0, 1 + random(bytes.length)));
      for (let count = random(4); count > 0; count--) damaged[random(damaged.length)] = random(256);
      let end = 0;
      for (const { from, to } of unpackPlaces({ ...good, runs: damaged.toString("base64url") })) {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(to).toBeGreaterThanOrEqual(from);
        expect(to).toBeLessThanOrEqual(2 ** 31);
        end = to;
      }
    }
    expect(unpackPlaces({ ...good, runs: Buffer.alloc(100_000, 0x80).toString("base64url") })).toEqual([]);
    expect(unpackPlaces({ ...good, runs: Buffer.alloc(9, 0xff).toString("base64url") })).toEqual([]);
    expect(unpackPlaces(undefined)).toEqual([]);
  });

  test.each([
    ["no object", 7],
    ["no contexts", { runs: "" }],
    ["runs of another kind", { contexts: [], runs: [1] }],
    ["runs of other characters", { contexts: [], runs: "a b" }],
    ["a context that is none", { contexts: [null], runs: "" }],
    ["an unknown field", { contexts: [{ owner: "x" }], runs: "" }],
    ["a page that is no number", { contexts: [{ page: "1" }], runs: "" }],
    ["a name with NUL", { contexts: [{ part: "a\0b" }], runs: "" }],
    ["another field beside them", { contexts: [], runs: "", more: 1 }],
  ])("are not: %s", (_name, value) => {
    expect(isPackedPlaces(value)).toBe(false);
  });

  test("are what was packed", () => {
    expect(isPackedPlaces(packPlaces(spots.map((spot, at) => ({ from: at, to: at + 1, spot }))))).toBe(true);
  });
});

describe("a part of a text", () => {
  const text = "one\ntwo\nthree\nfour";
  const whole: Place = { from: 0, to: text.length, spot: { lines: [10, 13] } };
  const linesOf = (from: number, to: number): unknown =>
    slicePlaces([whole], text, { from, to }).map(({ spot }) => spot.lines);

  test("has the lines that it touches", () => {
    expect(linesOf(4, 7)).toEqual([[11, 11]]);
    expect(linesOf(4, 8)).toEqual([[11, 11]]);
    expect(linesOf(5, 9)).toEqual([[11, 12]]);
    expect(linesOf(0, text.length)).toEqual([[10, 13]]);
  });

  test("of a text whose lines are not those of the file has the lines of the whole", () => {
    const joined: Place = { ...whole, spot: { lines: [10, 20] } };
    expect(slicePlaces([joined], text, { from: 4, to: 7 })[0]?.spot.lines).toEqual([10, 20]);
  });

  test("has offsets of its own, shifted", () => {
    const places: Place[] = [0, 4, 8].map((from) => ({
      from,
      to: from + 3,
      spot: { element: `p[${from}]` },
    }));
    expect(slicePlaces(places, text, { from: 5, to: 10, shift: 100 })).toEqual([
      { from: 100, to: 102, spot: { element: "p[4]" } },
      { from: 103, to: 105, spot: { element: "p[8]" } },
    ]);
  });

  test("is the same however often and in which order the places are cut", () => {
    const random = randomNumbers(3);
    const lines = Array.from({ length: 300 }, (_, at) => "x".repeat(at % 7)).join("\n");
    const places: Place[] = [
      { from: 0, to: 400, spot: { lines: [1, 1 + lines.slice(0, 400).split("\n").length - 1] } },
      { from: 401, to: lines.length, spot: { lines: [900, 900 + lines.slice(401).split("\n").length - 1] } },
    ];
    const slice = placeSlicer(places, lines);
    for (let round = 0; round < 500; round++) {
      const from = random(lines.length);
      const to = from + 1 + random(lines.length - from);
      expect(slice({ from, to })).toEqual(slicePlaces(places, lines, { from, to }));
    }
  });

  test("costs no more than its length, although the place is long", () => {
    const long = "no line break in here ".repeat(500_000);
    const places: Place[] = [{ from: 0, to: long.length, spot: { lines: [1, 1] } }];
    const broken = `${long}\n${long}`;
    const two: Place[] = [{ from: 0, to: broken.length, spot: { lines: [1, 2] } }];
    const started = performance.now();
    for (const [spots, whole] of [
      [places, long],
      [two, broken],
    ] as const) {
      const slice = placeSlicer(spots, whole);
      for (let from = 0; from + 1_000 < whole.length; from += 1_000) slice({ from, to: from + 1_000 });
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
