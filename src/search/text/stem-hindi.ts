/**
 * Stems Hindi words by taking off an ending.
 *
 * @see Ramanathan and Rao, "A Lightweight Stemmer for Hindi" (2003)
 */

/** Longest first, as they are tried. */
const ENDINGS: readonly (readonly string[])[] = [
  ["ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयाँ", "ाइयों", "ाइयां"],
  [
    "ाएगी",
    "ाएगा",
    "ाओगी",
    "ाओगे",
    "एंगी",
    "ेंगी",
    "एंगे",
    "ेंगे",
    "ूंगी",
    "ूंगा",
    "ातीं",
    "नाओं",
    "नाएं",
    "ताओं",
    "ताएं",
    "ियाँ",
    "ियों",
    "ियां",
  ],
  [
    "ाकर",
    "ाइए",
    "ाईं",
    "ाया",
    "ेगी",
    "ेगा",
    "ोगी",
    "ोगे",
    "ाने",
    "ाना",
    "ाते",
    "ाती",
    "ाता",
    "तीं",
    "ाओं",
    "ाएं",
    "ुओं",
    "ुएं",
    "ुआं",
  ],
  ["कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ", "ां", "ों", "ें"],
  ["ो", "े", "ू", "ु", "ी", "ि", "ा"],
];

/** The word without the longest ending that leaves at least two characters. */
export function stemHindi(word: string): string {
  for (const endings of ENDINGS) {
    const ending = endings.find(
      (candidate) => word.length > candidate.length + 1 && word.endsWith(candidate),
    );
    if (ending !== undefined) return word.slice(0, -ending.length);
  }
  return word;
}
