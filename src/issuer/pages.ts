/**
 * The pages of the development issuer: the list of people, and the sign-out. Their only script sends a form,
 * and they load nothing.
 */
import { createHash } from "node:crypto";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { Person } from "./people.ts";

/** The secret is hexadecimal, and a longer text cannot be it. */
const MAX_SECRET = 200;

const TEXTS = {
  en: {
    title: "Who are you?",
    text:
      "This is the development issuer of this Holdfast. Anyone who has its secret can sign in as " +
      "anyone. It runs only on this machine, and never in production.",
    program:
      "A program on this machine asks to act for the person whom you pick. Pick nobody if you " +
      "have not just told one to sign in. It waits at",
    secretTitle: "Unlock the development issuer",
    secretText:
      "Open the console by the link that npm start prints, or enter the secret that is in the " +
      "file issuer-secret of its data folder.",
    secret: "Secret",
    go: "Continue",
    wrong: "That is not the secret of this data folder.",
    search: "Search",
    find: "Name, address or organization",
    operator: "as an operator (role operators)",
    nobody: "No people yet. Add some by provisioning or in the console.",
    unavailable: "The database is not responding, so people cannot be listed. Reload the page in a moment.",
    more: "Showing the first 100.",
    signOut: "Sign out",
  },
  de: {
    title: "Wer sind Sie?",
    text:
      "Der Entwicklungs-Aussteller dieses Holdfast glaubt jedem, der sein Geheimnis hat. Er läuft " +
      "nur auf diesem Rechner und nie im Betrieb.",
    program:
      "Ein Programm auf diesem Rechner will für die Person handeln, die Sie wählen. Wählen Sie " +
      "niemanden, wenn Sie nicht eben eines angemeldet haben. Es wartet unter",
    secretTitle: "Welches Holdfast ist Ihres?",
    secretText:
      "Öffnen Sie die Konsole mit dem Link, den npm start ausgibt, oder geben Sie das Geheimnis " +
      "aus der Datei issuer-secret im Datenordner ein.",
    secret: "Geheimnis",
    go: "Weiter",
    wrong: "Das ist nicht das Geheimnis dieses Datenordners.",
    search: "Suchen",
    find: "Name, Adresse oder Organisation",
    operator: "als Betreiber (Rolle operators)",
    nobody: "Es gibt niemanden. Personen kommen durch Provisionierung oder in der Konsole dazu.",
    unavailable: "Die Datenbank antwortet nicht. Laden Sie die Seite gleich noch einmal.",
    more: "Das sind die ersten 100.",
    signOut: "Abmelden",
  },
} as const;

type Language = keyof typeof TEXTS;

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 30rem; margin: 8vh auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; }
  ul { list-style: none; padding: 0; }
  li { margin: .5rem 0; }
  input[type=search], input[type=password] { font: inherit; padding: .4rem; width: 60%; }
  button { font: inherit; padding: .5rem .8rem; cursor: pointer; border: 1px solid; border-radius: 4px;
    background: light-dark(#fff, #25262b); color: light-dark(#111, #eee); border-color: light-dark(#888, #777); }
  li button { width: 100%; text-align: start; }
  button:hover { border-color: light-dark(#3b5bdb, #91a7ff); }
  small { display: block; color: light-dark(#555, #bbb); }`;

/** Sends the form of the sign-out; without scripts its button does. */
const SUBMIT = 'document.forms[0].elements["logout"].click()';

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** No page of another origin may show or send these. A form leads on to another origin, the console. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SUBMIT)}; ` +
    "base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

export const languageOf = (header: string | undefined): Language =>
  /^\s*de\b/i.test(header ?? "") ? "de" : "en";

interface PeoplePage {
  /** What was searched for. */
  readonly text: string;
  readonly language: Language;
  /** Where the program waits that the sign-in is for; undefined for the console. */
  readonly program: string | undefined;
}

/** @param people undefined: the database does not answer */
export function peoplePage(
  people: readonly Person[] | undefined,
  { text, language, program }: PeoplePage,
): string {
  const texts = TEXTS[language];
  const notice = people === undefined ? texts.unavailable : people.length === 0 ? texts.nobody : "";
  const list = (people ?? []).map(
    ({ subject, name, email, role, organization }) =>
      `<li><button name="person" value="${escape(subject)}"><bdi>${escape(name)}</bdi>` +
      `<small><bdi>${escape(email)}</bdi> · <bdi>${escape(organization)}</bdi> · ${role}</small></button></li>`,
  );
  return page(
    language,
    texts.title,
    `<p>${texts.text}</p>
    ${program === undefined ? "" : `<p>${texts.program} <strong>${escape(program)}</strong>.</p>`}
    <form method="get"><input type="search" name="q" value="${escape(text)}" maxlength="100"
      aria-label="${texts.find}" placeholder="${texts.find}"> <button>${texts.search}</button></form>
    <form method="post">
      <p><label><input type="checkbox" name="operator" value="yes"> ${texts.operator}</label></p>
      <ul>${list.join("")}</ul>
    </form>
    <p>${notice}${list.length >= 100 ? texts.more : ""}</p>`,
  );
}

/** Asks for the secret of the data folder. @param isWrong if another was given before */
export function secretPage(isWrong: boolean, language: Language): string {
  const texts = TEXTS[language];
  return page(
    language,
    texts.secretTitle,
    `<p>${texts.secretText}</p>
    <form method="post"><input type="password" name="secret" maxlength="${MAX_SECRET}" required
      autocomplete="off" aria-label="${texts.secret}" placeholder="${texts.secret}">
      <button>${texts.go}</button></form>
    ${isWrong ? `<p role="alert">${texts.wrong}</p>` : ""}`,
  );
}

/** Ends the session at once: the console has asked before. @param form the provider's own */
export function sendSignOutPage(ctx: KoaContextWithOIDC, form: string): void {
  const language = languageOf(ctx.get("accept-language"));
  const { signOut } = TEXTS[language];
  ctx.set({ ...PAGE_HEADERS });
  const button = `<button form="op.logoutForm" type="submit" name="logout" value="yes">${signOut}</button>`;
  ctx.body = page(language, signOut, `${form}${button}<script>${SUBMIT}</script>`);
}

function page(language: Language, title: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Holdfast</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main><h1>${title}</h1>${body}</main>
  </body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
