import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useRef } from "react";
import { useMessages } from "../../messages/messages.ts";
import { messages as parts } from "../../parts/messages.ts";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { DEFAULT_ORDER, type ListAddress } from "./documents.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly address: ListAddress;
  readonly onChange: (change: Partial<Record<keyof ListAddress, string | undefined>>) => void;
}

const TYPING_MS = 200;
const TYPES =
  "PDF DOCX DOC PPTX PPT XLSX XLS ODT ODS ODP RTF EPUB HTML MARKDOWN TEXT CSV TSV EML MSG JSON XML CODE ZIP PNG JPEG TIFF OTHER".split(
    " ",
  );

const chosen = (value: string): string | undefined => (value === "" ? undefined : value);

export function Filters({ address, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  const { status } = useMessages(parts);
  const input = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: "/", label: texts.keys.find, run: () => input.current?.focus() }]);
  const search = useDebouncedCallback((q: string) => onChange({ q: chosen(q) }), TYPING_MS);
  const { filters } = texts;
  const states = [
    { value: "", label: filters.any },
    { value: "under_way", label: filters.underWay },
    { value: "waiting", label: filters.waiting },
    ...(["completed", "failed", "cancelled"] as const).map((value) => ({ value, label: status[value] })),
  ];
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        // A clear from elsewhere empties it, and typing does not.
        key={address.q === undefined ? "empty" : "filled"}
        ref={input}
        label={filters.search}
        defaultValue={address.q ?? ""}
        onChange={(event) => search(event.currentTarget.value)}
        flex="1 1 160px"
        size="xs"
      />
      <NativeSelect
        label={filters.status}
        data={states}
        value={address.status ?? ""}
        onChange={(event) => onChange({ status: chosen(event.currentTarget.value) })}
        size="xs"
      />
      <NativeSelect
        label={filters.type}
        data={[{ value: "", label: filters.any }, ...TYPES]}
        value={address.type ?? ""}
        onChange={(event) => onChange({ type: chosen(event.currentTarget.value) })}
        size="xs"
      />
      <NativeSelect
        label={filters.order}
        data={Object.entries(filters.orders).map(([value, label]) => ({ value, label }))}
        value={address.order ?? DEFAULT_ORDER}
        onChange={({ currentTarget: { value } }) =>
          onChange({ order: value === DEFAULT_ORDER ? undefined : value })
        }
        size="xs"
      />
    </Group>
  );
}
