import { Button, Flex, Group, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useHoldfast } from "../../app/context.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { Hits } from "./hits.tsx";
import { messages } from "./messages.ts";
import { SettingsForm } from "./settings-form.tsx";
import { useSearches } from "./searches.ts";
import { type Settings, readSettings, writeSettings } from "./settings.ts";

/** Finds passages, shows why each is where it is, and what another setting would change. */
export function SearchScreen(): ReactNode {
  const texts = useMessages(messages);
  const address = useSearch({ from: "/search" });
  const navigate = useNavigate({ from: "/search" });
  const holdfast = useHoldfast();
  const { data: spaces = [], isSuccess: areSpacesKnown } = useQuery(spacesQuery(holdfast));
  const input = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState(address.q ?? "");
  const left = readSettings(address.settings);
  const isComparing = address.other !== undefined;
  const right = readSettings(address.other);
  useShortcuts([{ keys: "/", label: texts.focus, run: () => input.current?.focus() }]);
  const go = (change: Readonly<Record<"q" | "settings" | "other", string | undefined>>): void => {
    const search = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    void navigate({ search, replace: true });
  };
  const current = { q: address.q, settings: address.settings, other: address.other };
  const searches = useSearches(address.q, left, isComparing ? right : undefined, spaces);
  return (
    <Stack>
      <PageHeader title={texts.title} />
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          go({ ...current, q: query.trim() === "" ? undefined : query.trim() });
        }}
      >
        <Group align="flex-end">
          <TextInput
            ref={input}
            label={texts.query}
            value={query}
            onChange={(event) => setQuery(event.currentTarget.value)}
            flex="1 1 240px"
            dir="auto"
            autoComplete="off"
            maxLength={8_192}
          />
          <Button type="submit">{texts.search}</Button>
        </Group>
      </form>
      <Switch
        label={texts.compare}
        checked={isComparing}
        onChange={(event) =>
          go({ ...current, other: event.currentTarget.checked ? (address.settings ?? "{}") : undefined })
        }
      />
      {areSpacesKnown && spaces.length === 0 && <Text>{texts.noSpaces}</Text>}
      <Flex gap="xl" direction={{ base: "column", lg: "row" }}>
        <Side
          title={isComparing ? texts.left : undefined}
          settings={left}
          spaces={spaces}
          onChange={(next) => go({ ...current, settings: writeSettings(next) })}
        >
          <Hits query={searches} side="left" />
        </Side>
        {isComparing && (
          <Side
            title={texts.right}
            settings={right}
            spaces={spaces}
            onChange={(next) => go({ ...current, other: writeSettings(next) ?? "{}" })}
          >
            {searches.data?.overlap !== undefined && <Overlap share={searches.data.overlap} />}
            <Hits query={searches} side="right" />
          </Side>
        )}
      </Flex>
      {address.q === undefined && <Empty title={texts.startTitle} text={texts.startText} />}
    </Stack>
  );
}

interface SideProps {
  readonly title: string | undefined;
  readonly settings: Settings;
  readonly spaces: Parameters<typeof SettingsForm>[0]["spaces"];
  readonly onChange: (settings: Settings) => void;
  readonly children: ReactNode;
}

function Side({ title, settings, spaces, onChange, children }: SideProps): ReactNode {
  return (
    <Stack flex={1} miw={0} component="section" aria-label={title}>
      <SettingsForm title={title} settings={settings} spaces={spaces} onChange={onChange} />
      {children}
    </Stack>
  );
}

function Overlap({ share }: { readonly share: number }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  return (
    <Text size="sm" c="dimmed">
      {texts.overlap(formats.percent(share))}
    </Text>
  );
}
