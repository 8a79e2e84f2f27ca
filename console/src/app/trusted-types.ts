/**
 * Lets style sheets, which Mantine writes as the text of style elements, through the browser's trusted types;
 * markup is let through from nowhere: a text without `<` has none.
 * @see https://developer.mozilla.org/docs/Web/API/Trusted_Types_API
 */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string }): unknown;
}

export function allowStyleSheets(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy("default", {
    createHTML(text) {
      if (text.includes("<")) throw new TypeError("Markup is not written as text.");
      return text;
    },
  });
}
