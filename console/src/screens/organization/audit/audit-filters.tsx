import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
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
  const type = useDebouncedCallback(set, TYPING_MS);
  // A clear from elsewhere empties what is typed, and typing does not.
  const keyOf = (field: "action" | "resource"): string => `${field} ${address[field] === undefined}`;
  return (
    <Group gap="sm" align="flex-end">
      <TextInput
        key={keyOf("action")}
        size="xs"
        label={filters.action}
        placeholder="documents:"
        defaultValue={address.action ?? ""}
        onChange={(event) => type("action", event.currentTarget.value)}
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
      <TextInput
        key={keyOf("resource")}
        size="xs"
        label={filters.resource}
        defaultValue={address.resource ?? ""}
        onChange={(event) => type("resource", event.currentTarget.value.trim())}
      />
    </Group>
  );
}
