import { Avatar, Menu, UnstyledButton, VisuallyHidden, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { LANGUAGES, useLanguage, useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { useConsole, useMe } from "../context.ts";
import { useLanguageChoice } from "../language-choice.ts";
import { messages } from "../messages.ts";

const COLOR_SCHEMES = ["light", "dark", "auto"] as const;

const initials = (name: string): string =>
  name
    .split(/\s+/u)
    .slice(0, 2)
    .map((word) => word.charAt(0))
    .join("");

export function AccountMenu({ onHelp }: { readonly onHelp: () => void }): ReactNode {
  const texts = useMessages(messages).header;
  const { signOut } = useConsole();
  const me = useMe();
  const language = useLanguage();
  const choose = useLanguageChoice();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton>
          <Avatar size={32} color="indigo" variant="filled" aria-hidden>
            {initials(me.name)}
          </Avatar>
          <VisuallyHidden>{texts.account}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="dimmed">
          <Bidi>{me.name}</Bidi> · <Bidi>{me.organization.name}</Bidi>
        </Menu.Label>
        <Menu.Item onClick={onHelp}>{texts.shortcuts}</Menu.Item>
        <Menu.Divider />
        <Menu.Label c="dimmed">{texts.language}</Menu.Label>
        {LANGUAGES.map((each) => (
          <Menu.Item key={each} lang={each} onClick={() => choose(each)} aria-current={each === language}>
            {mark(each === language)} {texts.languages[each]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label c="dimmed">{texts.colors}</Menu.Label>
        {COLOR_SCHEMES.map((each) => (
          <Menu.Item key={each} onClick={() => setColorScheme(each)} aria-current={each === colorScheme}>
            {mark(each === colorScheme)} {texts[each]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={signOut}>{texts.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const mark = (isChosen: boolean): ReactNode => <span aria-hidden>{isChosen ? "✓" : "\u2003"}</span>;
