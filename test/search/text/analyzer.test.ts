import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_TERMS, analyze, analyzeQuery } from "../../../src/search/text/analyzer.ts";
import { createTermFinder } from "../../../src/search/highlights.ts";

/** Whether a chunk has a term of the query's words, so that the index would find it. */
function finds(query: string, chunk: string): boolean {
  const terms = new Set(analyze(chunk).terms);
  return analyzeQuery(query).some((word) => word.terms.some((term) => terms.has(term)));
}

describe("words are found in other forms, whatever language the query is taken for", () => {
  test.each([
    ["en", "The mitochondria of the cells were degenerating when we looked at them.", "cell degeneration"],
    ["de", "Die Häuser wurden von der Stadt gekauft und sind nicht mehr bewohnt.", "Haus"],
    ["fr", "Les élèves étaient dans les écoles de la ville avec leurs parents.", "école"],
    ["es", "Las canciones que se escuchan en la radio son muy antiguas.", "canción"],
    ["pt", "As pessoas não estão nas ruas porque está chovendo muito.", "pessoa"],
    ["it", "Gli studenti sono andati alla biblioteca con i loro professori.", "studente"],
    ["ro", "Casele din acest oraș sunt foarte vechi și nu au fost reparate.", "casă"],
    ["tr", "Bu şehirdeki evler çok eski ve onlar için bir şey yapılmadı.", "ev"],
    ["ru", "Учёные исследовали клетки и не нашли в них ничего нового.", "ученый клетка"],
    ["ar", "ذهب الطلاب إلى المدرسة في الصباح", "مدرسة"],
    ["hi", "लड़कियों ने स्कूल में किताबें पढ़ीं और घर गईं।", "लड़की किताब"],
    ["el", "Οι άνθρωποι στην ΑΘΗΝΑ είναι πολλοί.", "Αθήνα"],
    ["vi", "Các thành phố lớn của Việt Nam đang phát triển rất nhanh.", "thành phố"],
    ["th", "ประเทศไทยมีอาหารอร่อยมากมาย", "อาหาร"],
    ["zh", "黑豹队的防守只丢了308分，在联赛中排名第六。", "防守排名"],
    ["ja", "東京は日本の首都であり、人口が多い都市です。", "日本の首都"],
    ["ko", "서울은 대한민국의 수도이다.", "대한민국"],
  ])("%s", (language, chunk, query) => {
    expect(analyze(chunk).language).toBe(language);
    expect(finds(query, chunk)).toBe(true);
  });
});

describe("what differs only in how it is written is the same word", () => {
  test.each([
    ["marks of direction inside", "the price of كت\u200fاب in \u202bnarwhals\u202c", "كتاب"],
    ["marks of direction around", "\u2067narwhal\u2069 tusks", "narwhal"],
    ["joiners of Persian", "می\u200cخواهم بروم", "میخواهم"],
    ["joiners of Hindi", "क्\u200dषेत्र बड़ा है", "क्षेत्र"],
    ["vowel marks", "مُحَمَّد في البيت", "محمد"],
    ["lengthening", "كــتــاب جديد", "كتاب"],
    ["presentation forms", "ﻛﺘﺎﺏ جديد", "كتاب"],
    ["forms of alef", "إسلام وأدب", "اسلام"],
    ["Arabic digits", "سنة ١٩٤٨ كانت", "1948"],
    ["Persian digits", "سال ۱۹۴۸ بود", "1948"],
    ["Hindi digits", "वर्ष १९४८ में", "1948"],
    ["digits beyond the basic plane", "𞤸𞤭𞤼𞤢𞥄𞤲𞤣𞤫 \u{1e951}\u{1e959}\u{1e954}\u{1e958}", "1948"],
    ["full-width digits", "１９４８年の東京", "1948"],
    ["ё and е", "ёлка и мёд", "мед"],
    ["an emoji beside", "otters🦦swim", "otters"],
    ["a number with its unit", "a dose of 5 mg daily", "5 mg"],
    ["a number apart from its unit", "a dose of 5mg daily", "5 mg"],
    ["a language within another", "Der Vertrag heißt «Договор о поставке» auf Russisch.", "договор"],
    ["code within text", "call `parseQuery(input)` first", "parseQuery"],
  ])("%s", (_, chunk, query) => {
    const terms = new Set(analyze(chunk).terms);
    // Every word is found, not only one of them.
    for (const word of analyzeQuery(query)) expect(word.terms.some((term) => terms.has(term))).toBe(true);
  });

  test("and is marked in the text whole", () => {
    const text = "the year ١٩٤٨ and كت\u200fاب";
    const terms = analyzeQuery("1948 كتاب").flatMap((word) => word.terms);
    const marked = createTermFinder(new Set(terms))(text).map(([from, to]) => text.slice(from, to));
    expect(marked).toEqual(["١٩٤٨", "كت\u200fاب"]);
  });
});

test("identifiers, numbers, e-mail and web addresses are terms whole and in parts", () => {
  const { terms } = analyze(
    "ERR_CONN_4711 at foo_bar, version 3.14, ada.lovelace@mail.example.org or " +
      "https://docs.example.com/Guide/index.html?q=1, 12,345 items of fooBarBaz in node.js",
  );
  expect(terms).toEqual(
    expect.arrayContaining([
      "err_conn_4711",
      "en:err",
      "en:conn",
      "4711",
      "foo_bar",
      "3.14",
      "3",
      "14",
      "ada.lovelace@mail.example.org",
      "docs.example.com",
      "docs.example.com/guide/index.html?q=1",
      "12345",
      "node.js",
    ]),
  );
  const missed = [
    "err_conn_4711",
    "4711",
    "foo_bar",
    "bar",
    "lovelace",
    "ada.lovelace@mail.example.org",
    "docs.example.com",
    "guide",
    "fooBarBaz",
    "baz",
    "12,345",
    "node.js",
  ].filter(
    (query) =>
      !finds(
        query,
        "ERR_CONN_4711 foo_bar ada.lovelace@mail.example.org https://docs.example.com/Guide " +
          "12,345 fooBarBaz node.js",
      ),
  );
  expect(missed).toEqual([]);
});

test("a word with diacritics is found without them, and weighs more with them", () => {
  const words = analyzeQuery("München", ["de"]);
  expect(words.reduce((sum, word) => sum + word.weight, 0)).toBeCloseTo(1);
  expect(finds("Munchen", "Die Stadt München ist nicht weit von hier.")).toBe(true);
  expect(finds("eleve", "Les élèves sont dans la cour de l'école.")).toBe(true);
  expect(finds("São Paulo", "Flights to Sao Paulo are late.")).toBe(true);
  expect(finds("Istanbul", "İstanbul çok büyük bir şehir ve burada insanlar var.")).toBe(true);
});

test.each([
  ["vi", "thanh pho", "Các thành phố lớn của Việt Nam đang phát triển rất nhanh."],
  ["ro", "oras", "Casele din acest oraș sunt foarte vechi și nu au fost reparate."],
  ["es", "cancion", "Las canciones que se escuchan en la radio son muy antiguas."],
  ["tr", "sehir", "Bu şehir çok eski ve burada insanlar için bir şey yapılmadı."],
  ["el", "αθηνα", "Η Αθήνα είναι μεγάλη πόλη και οι άνθρωποι είναι πολλοί."],
  ["ru", "ученый", "Учёный исследовал клетки и не нашёл в них ничего нового."],
  ["ar", "مدرسه", "ذهب الطلاب إلى المدرسة في الصباح"],
  ["hi", "लडकी", "लड़की ने स्कूल में किताब पढ़ी और घर गई।"],
])("%s: a word is found as people type it, without its marks", (_, query, chunk) => {
  expect(finds(query, chunk)).toBe(true);
});

test("full-width and compatibility forms are the same words", () => {
  expect(finds("ABC 123", "ＡＢＣ １２３")).toBe(true);
  expect(finds("official", "the oﬃcial report")).toBe(true);
});

test("function words go, but not as abbreviations or when a query has nothing else", () => {
  expect(analyze("the IT department of the WHO").terms).toEqual(["en:it", "en:depart", "en:who"]);
  expect(analyzeQuery("what is the department", ["en"]).flatMap((word) => word.terms)).toEqual([
    "department",
    "en:depart",
  ]);
  expect(analyzeQuery("to be or not to be", ["en"]).length).toBeGreaterThan(0);
});

test("a query is stemmed by every language that its chunks may be in", () => {
  expect(analyzeQuery("Zahlungen", ["de", "en"])[0]!.terms).toEqual([
    "zahlungen",
    "de:zahlung",
    "en:zahlungen",
  ]);
});

test("a chunk without function words is in the language of its document", () => {
  expect(analyze("Umsatzerlöse Personalkosten Zahlungen", "de").terms).toContain("de:zahlung");
});

test("any text has bounded terms that Postgres can store", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.string({ unit: "grapheme", maxLength: 300 }),
      ),
      (text) => {
        for (const terms of [analyze(text).terms, analyzeQuery(text).flatMap((word) => word.terms)]) {
          for (const term of terms)
            expect(term.length > 0 && term.length <= 70 && !term.includes("\0") && term.isWellFormed()).toBe(
              true,
            );
        }
        expect(
          createTermFinder(new Set(analyze(text).terms))(text).every(
            ([start, end]) => start < end && end <= text.length,
          ),
        ).toBe(true);
      },
    ),
  );
  expect(analyze("word ".repeat(40_000)).terms).toHaveLength(MAX_TERMS);
  expect(
    analyze(`${"x".repeat(5_000)} \ud800 \0 ${"𝒳".repeat(100)}`).terms.every(
      (term) => term.length <= 70 && term.isWellFormed(),
    ),
  ).toBe(true);
  expect(analyzeQuery("?!… — *** \u0300")).toEqual([]);
  expect(analyze("\u0300 \u05b4").terms).toEqual([]);
  // The Arabic lengthening without a letter: by itself, and in a ligature with two vowel marks.
  expect(analyze("\u0640\u0640 \ufcf2").terms).toEqual([]);
  expect(analyzeQuery("\u0640 \ufcf2")).toEqual([]);
});
