import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, type RefObject, useState, memo } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { messages as partMessages } from "../../../parts/messages.ts";
import { messages } from "../messages.ts";
import { type ListAddress, NAME, NEWEST, UNSEARCHABLE, WAITING, knownOrder } from "./question.ts";

interface Props {
  readonly address: ListAddress;
  readonly onChange: (change: ListAddress) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
}

const TYPING_MS = 200;
/** Nothing is chosen. */
const ANY = "";
const STATUSES = ["queued", "parsing", "chunking", "embedding", "completed", "failed", "cancelled"] as const;
const TYPES = [
  ..."MARKDOWN TEXT PDF DOCX DOC PPTX PPT XLSX XLS CSV TSV ODT ODS ODP RTF EPUB HTML EML MSG".split(" "),
  ..."JSON XML CODE ZIP PNG JPEG TIFF OTHER".split(" "),
];

/** Narrows and orders the list; what is chosen is in the address. */
export const Toolbar = memo(function Toolbar({ address, onChange, searchRef }: Props): ReactNode {
  const texts = useMessages(messages).list;
  const { status: statusTexts } = useMessages(partMessages);
  const [typed, setTyped] = useState(address.q ?? "");
  const [shown, setShown] = useState(address.q);
  // The address changes without typing too: by the browser's way back, or when filters are cleared.
  if (shown !== address.q) {
    setShown(address.q);
    if ((address.q ?? "") !== typed.trim()) setTyped(address.q ?? "");
  }
  const search = useDebouncedCallback((q: string) => onChange({ q: q === "" ? undefined : q }), TYPING_MS);
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        ref={searchRef}
        type="search"
        aria-label={texts.search}
        placeholder={texts.search}
        value={typed}
        maxLength={200}
        flex="1 1 160px"
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          search(event.currentTarget.value.trim());
        }}
      />
      <NativeSelect
        aria-label={texts.status}
        w={170}
        value={address.status ?? ANY}
        onChange={({ currentTarget: { value } }) => onChange({ status: value === ANY ? undefined : value })}
        data={[
          { value: ANY, label: texts.anyStatus },
          ...STATUSES.map((value) => ({ value, label: statusTexts[value] })),
          { value: WAITING, label: texts.waiting },
          { value: UNSEARCHABLE, label: texts.withWarnings },
        ]}
      />
      <NativeSelect
        aria-label={texts.type}
        w={130}
        value={address.type ?? ANY}
        onChange={({ currentTarget: { value } }) => onChange({ type: value === ANY ? undefined : value })}
        data={[{ value: ANY, label: texts.anyType }, ...TYPES]}
      />
      <NativeSelect
        aria-label={texts.order}
        w={160}
        value={knownOrder(address.order)}
        onChange={({ currentTarget: { value } }) => onChange({ order: value === NEWEST ? undefined : value })}
        data={ordersOf(texts, knownOrder(address.order))}
      />
    </Group>
  );
});

/** Those that people ask for, and that which a column was clicked for. */
function ordersOf(texts: ReturnType<typeof useMessages<typeof messages.en>>["list"], order: string) {
  const usual = [
    { value: NEWEST, label: texts.newest },
    { value: "created_at", label: texts.oldest },
    { value: NAME, label: `${texts.byName} ↑` },
    { value: `-${NAME}`, label: `${texts.byName} ↓` },
    { value: "-file_size", label: texts.largest },
    { value: "processing_state.pipeline_status", label: texts.byStatus },
  ];
  if (usual.some(({ value }) => value === order)) return usual;
  const fields: Readonly<Record<string, string>> = {
    file_size: texts.size,
    file_type: texts.type,
    "processing_state.pipeline_status": texts.status,
  };
  const sign = order.startsWith("-") ? "↓" : "↑";
  return [...usual, { value: order, label: `${fields[order.replace(/^-/u, "")] ?? order} ${sign}` }];
}
