import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { organizationQuery } from "../organization/organization-query.ts";
import { type Lifetime, ON_DATE, allowedDays, inDays } from "./lifetime.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly value: Lifetime;
  readonly onChange: (value: Lifetime) => void;
  readonly error: string | undefined;
  /** The words for no choice; absent: as the organization says. */
  readonly unchosen?: string;
}

/** How long a key lives, within what the organization allows. */
export function LifetimeFields({ value, onChange, error, unchosen }: Props): ReactNode {
  const { form } = useMessages(messages);
  const { organization } = useMe();
  const { data } = useQuery(organizationQuery(useHoldfast(), organization.id));
  const longest = data?.max_key_lifetime_seconds ?? null;
  const usual = data?.default_key_lifetime_seconds ?? longest;
  const time = (seconds: number): string => form.daysLong(inDays(seconds));
  const byDefault = usual === null ? form.byDefault : form.byDefaultFor(time(usual));
  // Where the organization sets nothing, a key of which no end is asked has none.
  const isEndless = data !== undefined && usual === null;
  return (
    <Group align="flex-start" gap="sm">
      <NativeSelect
        flex={1}
        label={form.lifetime}
        description={longest === null ? undefined : form.longest(time(longest))}
        data={[
          { value: "", label: unchosen ?? (isEndless ? form.never : byDefault) },
          ...allowedDays(longest).map((days) => ({ value: String(days), label: form.days(days) })),
          { value: ON_DATE, label: form.onDate },
        ]}
        value={value.choice}
        onChange={({ currentTarget: { value: choice } }) => onChange({ ...value, choice })}
        error={value.choice === ON_DATE ? undefined : error}
      />
      {value.choice === ON_DATE && (
        <TextInput
          type="date"
          label={form.date}
          value={value.date}
          onChange={({ currentTarget: { value: date } }) => onChange({ ...value, date })}
          error={error}
          required
        />
      )}
    </Group>
  );
}
