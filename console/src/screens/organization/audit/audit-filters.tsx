import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { membersQuery } from "../../people/members.ts";
import { type AuditAddress, FIELDS } from "./filters.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly address: AuditAddress;
  readonly onChange: (address: AuditAddress) => void;
}

/** Each look at the log is a row of it: so long after the last key it is asked for. */
const TYPING_MS = 600;

export function AuditFilters({ address, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  const { filters } = texts;
  const { organization } = useMe();
  const { data } = useQuery(membersQuery(useHoldfast(), organization.id));
  const set = (field: (typeof FIELDS)[number], value: string): void => {
    const next = FIELDS.map((each) => [each, each === field ? value : (address[each] ?? "")] as const);
    onChange(Object.fromEntries(next.filter(([, text]) => text !== "")));
  };
  return (
    <Group gap="sm" align="flex-end">
      <TypedFilter
        label={filters.action}
        value={address.action ?? ""}
        onChange={(value) => set("action", value)}
        placeholder="documents:"
      />
      <NativeSelect
        size="xs"
        label={filters.user}
        data={[
          { value: "", label: filters.anyone },
          ...(data?.items ?? []).map(({ user_id: id, name }) => ({ value: id, label: name })),
        ]}
        value={address.user ?? ""}
        onChange={(event) => set("user", event.currentTarget.value)}
      />
      {(["from", "to"] as const).map((field) => (
        <TextInput
          key={field}
          size="xs"
          type="date"
          label={filters[field]}
          value={address[field] ?? ""}
          onChange={(event) => set(field, event.currentTarget.value)}
        />
      ))}
      <NativeSelect
        size="xs"
        label={filters.outcome}
        data={[
          { value: "", label: filters.anyOutcome },
          ...Object.entries(texts.outcomes).map(([value, label]) => ({ value, label })),
        ]}
        value={address.outcome ?? ""}
        onChange={(event) => set("outcome", event.currentTarget.value)}
      />
      <NativeSelect
        size="xs"
        label={filters.by}
        data={[
          { value: "", label: filters.anyMethod },
          ...Object.entries(texts.methods).map(([value, label]) => ({ value, label })),
        ]}
        value={address.by ?? ""}
        onChange={(event) => set("by", event.currentTarget.value)}
      />
      <TypedFilter
        label={filters.resource}
        value={address.resource ?? ""}
        onChange={(value) => set("resource", value)}
      />
    </Group>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
}

/**
 * A field whose text becomes the filter when nothing is typed any more; a change from elsewhere is shown in
 * it.
 */
function TypedFilter({ label, value, placeholder, onChange }: TypedProps): ReactNode {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    if (value !== typed.trim()) setTyped(value);
  }
  const tell = useDebouncedCallback(onChange, TYPING_MS);
  return (
    <TextInput
      size="xs"
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        tell(event.currentTarget.value.trim());
      }}
    />
  );
}
