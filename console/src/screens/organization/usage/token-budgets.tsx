import { Progress, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Schemas } from "@holdfast/client";
import type { ReactNode } from "react";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { messages } from "./messages.ts";
import { tokenBudgetsQuery } from "./usage-query.ts";
import { useNames } from "./who-and-what.tsx";

/** The tokens of this month beside what the organization, each person and each key may use. */
export function TokenBudgets(): ReactNode {
  const texts = useMessages(messages);
  const { organization } = useMe();
  const budgets = useQuery(tokenBudgetsQuery(useHoldfast(), organization.id));
  const nameOfUser = useNames("user");
  const nameOfKey = useNames("key");
  const nameOf = ({ budget, owner_id: id }: Schemas["TokenBudget"]): string => {
    if (budget === "organization") return organization.name;
    return budget === "user" ? nameOfUser(id) : nameOfKey(id);
  };
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {texts.tokensOfMonth}
      </Title>
      <QueryView query={budgets}>
        {({ items }) => (
          <WideTable
            label={texts.tokensOfMonth}
            columns={[texts.name, texts.whoseBudget, texts.used, texts.quota]}
          >
            {items.map((item) => (
              <Table.Tr key={`${item.budget} ${item.owner_id}`}>
                <Table.Td>
                  <Bidi>{nameOf(item)}</Bidi>
                </Table.Td>
                <Table.Td>{texts.whose[item.budget]}</Table.Td>
                <Table.Td>
                  <Used item={item} />
                </Table.Td>
                <Table.Td>
                  <Quota item={item} />
                </Table.Td>
              </Table.Tr>
            ))}
          </WideTable>
        )}
      </QueryView>
    </Stack>
  );
}

interface ItemProps {
  readonly item: Schemas["TokenBudget"];
}

function Used({ item: { used, quota } }: ItemProps): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  return (
    <>
      {formats.number(used)}
      {quota !== null && (
        <Progress.Root mt={4}>
          <Progress.Section
            value={Math.min(100, (100 * used) / Math.max(quota, 1))}
            color={used >= quota ? "red" : "indigo"}
            aria-label={texts.used}
          />
        </Progress.Root>
      )}
    </>
  );
}

function Quota({ item: { quota } }: ItemProps): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  return quota === null ? (
    <Text size="sm" c="dimmed">
      {texts.noQuota}
    </Text>
  ) : (
    formats.number(quota)
  );
}
