import { NativeSelect, Stack, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@holdfast/client";
import { type ReactNode, useMemo, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { membersQuery } from "../../people/members.ts";
import { measured } from "./measured.ts";
import { messages } from "./messages.ts";
import { type By, MEASURES, sumsBy } from "./series.ts";

const MOST_ROWS = 50;
const LIST = 100;

/** The same sums by person, agent or API key. */
export function WhoAndWhat({ rows }: { readonly rows: ReadonlyArray<Schemas["UsageRow"]> }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const [by, setBy] = useState<By>("user");
  const nameOf = useNames(by);
  const sums = useMemo(() => sumsBy(rows, by).slice(0, MOST_ROWS), [rows, by]);
  return (
    <Stack gap="xs">
      <NativeSelect
        label={texts.by}
        data={(["user", "agent", "key"] as const).map((value) => ({ value, label: texts.bys[value] }))}
        value={by}
        onChange={(event) => setBy(event.currentTarget.value as By)}
        maw={260}
      />
      <WideTable
        label={texts.bys[by]}
        columns={[texts.name, ...MEASURES.map((measure) => texts.measures[measure])]}
      >
        {sums.map(({ id, sums: each }) => (
          <Table.Tr key={id ?? ""}>
            <Table.Td>{id === null ? texts.unknown[by] : <Bidi>{nameOf(id)}</Bidi>}</Table.Td>
            {MEASURES.map((measure) => (
              <Table.Td key={measure}>{measured(formats, measure, each[measure])}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </WideTable>
    </Stack>
  );
}

/** What has no name in reach any more keeps its id. */
export function useNames(by: By): (id: string) => string {
  const holdfast = useHoldfast();
  const { organization } = useMe();
  const members = useQuery({ ...membersQuery(holdfast, organization.id), enabled: by === "user" });
  const others = useQuery({
    queryKey: keyOf(by === "agent" ? "agents" : "keys", "names"),
    queryFn: async () => {
      const { api } = holdfast;
      const { items } =
        by === "agent"
          ? await answerOf(api.POST("/v1/agents/search", { params: { query: { limit: LIST } }, body: {} }))
          : await answerOf(
              api.GET("/v1/organizations/{organization_id}/api-keys", {
                params: { path: { organization_id: organization.id }, query: { limit: LIST } },
              }),
            );
      return items.map(({ id, name }) => ({ id, name }));
    },
    enabled: by !== "user",
  });
  const names = new Map([
    ...(members.data?.items ?? []).map(({ user_id: id, name }) => [id, name] as const),
    ...(others.data ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  return (id) => names.get(id) ?? id;
}
