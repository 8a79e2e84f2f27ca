import fc from "fast-check";
import { expect, test } from "vitest";
import {
  STEMMED_LANGUAGES,
  analyze,
  analyzeQuery,
  languagesIn,
  pushTerms,
} from "../../src/search/text/analyzer.ts";
import { createTermFinder } from "../../src/search/highlights.ts";
import { beginningOf, stemOf } from "../../src/search/text/stems.ts";
import { cutWords } from "../../src/search/text/tokens.ts";

/** Every word of the text with one of the terms, found by analyzing all words. */
function analyzedSpans(text: string, terms: ReadonlySet<string>): [number, number][] {
  const tokens = cutWords(text);
  const languages = languagesIn(tokens);
  const joined: [number, number][] = [];
  for (const token of tokens.toSorted((one, other) => one.start - other.start)) {
    const own: string[] = [];
    pushTerms(own, token, languages);
    if (!own.some((term) => terms.has(term))) continue;
    const last = joined.at(-1);
    if (last !== undefined && token.start <= last[1]) last[1] = Math.max(last[1], token.end);
    else joined.push([token.start, token.end]);
  }
  return joined;
}

const SENTENCES = [
  "The mitochondria of the cells were degenerating when we looked at them, possibly lying or dying; " +
    "the possibility of relational skies.",
  "Die Häuser wurden von der Stadt gekauft und sind nicht mehr bewohnt; Zahlungen und Freundlichkeit.",
  "Les élèves étaient dans les écoles de la ville avec leurs parents, heureuses et apparemment différentes.",
  "Las canciones que se escuchan en la radio son muy antiguas y la presencia de las naciones.",
  "As pessoas não estão nas ruas porque está chovendo muito.",
  "Gli studenti sono andati alla biblioteca con i loro professori e la presenza delle nazioni.",
  "Casele din acest oraș sunt foarte vechi și nu au fost reparate de socialism.",
  "Bu şehirdeki evler çok eski ve onlar için bir şey yapılmadı. IŞIK Istanbul kitap",
  "De huizen van de stad zijn niet meer bewoond en de mogelijkheden zijn er.",
  "Husene i byen er ikke længere beboet, og børnene var der. Pojkarna och flickorna är inte här.",
  "Talot ovat vanhoja ja lapset eivät ole siellä, koska se on niin. " +
    "A házakban nem volt senki, és a könyvekkel",
  "Domy w mieście są stare i nie ma tam nikogo. Rumah itu tidak ada di sini untuk yang lain.",
  "Учёные исследовали клетки и не нашли в них ничего нового. ذهب الطلاب إلى المدرسة في الصباح",
  "लड़कियों ने स्कूल में किताबें पढ़ीं और घर गईं। " +
    "Οι άνθρωποι στην ΑΘΗΝΑ είναι πολλοί. Các thành phố lớn của Việt Nam",
  "ประเทศไทยมีอาหารอร่อยมากมาย 黑豹队的防守只丢了308分 東京は日本の首都であり 서울은 대한민국의 수도이다.",
  "ERR_CONN_4711 foo_bar 3.14 ada.lovelace@mail.example.org https://docs.example.com/Guide " +
    "12,345 fooBarBaz node.js it's Ｐａｒｉｓ oﬃcial",
];
const WORDS = SENTENCES.flatMap((sentence) => sentence.split(" "));
const passage = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...SENTENCES), fc.constantFrom(...WORDS)), {
      minLength: 1,
      maxLength: 12,
    })
    .map((parts) => parts.join(" ")),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...WORDS, ".", ",", "://", "'", "www.", "\u0301"),
        fc.string({ unit: "binary", maxLength: 3 }),
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join("")),
);

test("highlights are those that the analysis of the whole text gives, in every language", () => {
  fc.assert(
    fc.property(passage, passage, fc.array(fc.nat(), { maxLength: 8 }), (text, other, picks) => {
      const queried = picks.map((pick) => WORDS[pick % WORDS.length]!).join(" ");
      const terms = new Set([
        ...analyzeQuery(queried, STEMMED_LANGUAGES).flatMap((word) => word.terms),
        ...analyze(other).terms.slice(0, 5),
      ]);
      expect(createTermFinder(terms)(text)).toEqual(analyzedSpans(text, terms));
    }),
    { numRuns: 500 },
  );
});

const ENDINGS =
  "s es ed ing ly li y ies ied ational biliti bility ization fulness ement emment amment euse ence " +
  "logie encia anza enza ism isme isti ziem ceem cti heden ingen erne ene arna ande isch keit ungen " +
  "amente mente uccion ição zioni qui ssszal ccsel lyal abar ilor tate ment e i a";
const word = fc
  .tuple(
    fc.stringMatching(/^[a-z]{1,7}$/),
    fc.array(fc.constantFrom(...ENDINGS.split(" ").filter((ending) => /^[a-z]+$/.test(ending))), {
      maxLength: 3,
    }),
  )
  .map(([stem, endings]) => stem + endings.join(""));

test.each(STEMMED_LANGUAGES)("%s: a word begins as its stem promises", (language) => {
  fc.assert(
    fc.property(word, (text) => {
      const stem = stemOf(language, text);
      expect(text.startsWith(beginningOf(language, stem))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

const WITH_BEGINNINGS = STEMMED_LANGUAGES.filter((language) => beginningOf(language, "fox") !== "");
test.each(WITH_BEGINNINGS)("%s: only a stem of ASCII letters has a beginning", (language) => {
  fc.assert(
    fc.property(word, (text) => {
      const stem = stemOf(language, text);
      fc.pre(beginningOf(language, stem) !== "");
      // A form without diacritics would have another beginning.
      expect(stem).toMatch(/^[a-z]+$/);
    }),
    { numRuns: 500 },
  );
});

test("highlights are the offsets of the query's words in the text as it is", () => {
  const text = "Cafés in Ｐａｒｉｓ: running costs";
  const terms = new Set(analyzeQuery("cafe paris run", STEMMED_LANGUAGES).flatMap((each) => each.terms));
  expect(createTermFinder(terms)(text).map(([start, end]) => text.slice(start, end))).toEqual([
    "Cafés",
    "Ｐａｒｉｓ",
    "running",
  ]);
});

test.each([
  [
    "http://x.io https:/ www. www.) it's",
    ["7 x.io", "7 x", "9 io", "12 https", "20 www", "25 www", "25 www", "31 it"],
  ],
  [
    "a.b c. d, e/f g— h\u0301 iPhone fooBar Ab9 -k l_m",
    [
      "0 a.b",
      "0 a",
      "2 b",
      "4 c",
      "7 d",
      "10 e",
      "12 f",
      "14 g",
      "17 h\u0301",
      "20 iPhone",
      "27 fooBar",
      "27 foo",
      "30 Bar",
      "34 Ab9",
      "34 Ab9",
      "39 k",
      "41 l_m",
      "41 l",
      "43 m",
    ],
  ],
])("a word is cut by itself only where nothing joins it to another: %s", (text, expected) => {
  expect(cutWords(text).map((token) => `${token.start} ${token.text}`)).toEqual(expected);
});
