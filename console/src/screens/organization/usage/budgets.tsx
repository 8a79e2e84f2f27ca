import { List, Progress, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { QueryView } from "../../../parts/query-view.tsx";
import { Ago } from "../../../parts/time.tsx";
import type { Budget } from "./budget.ts";
import { messages } from "./messages.ts";
import { TokenBudgets } from "./token-budgets.tsx";
import { reachedQuery } from "./usage-query.ts";

/** What is left of the budget of requests, and which budgets of tokens were used up. */
export function Budgets({ budget }: { readonly budget: Budget | undefined }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const reached = useQuery(reachedQuery(useHoldfast()));
  const whose: Readonly<Record<string, string>> = texts.whose;
  return (
    <Stack gap="xs" maw={760}>
      <Title order={2} size="h4">
        {texts.budgets}
      </Title>
      {budget !== undefined && (
        <>
          <Text size="sm">{texts.budget}</Text>
          <Progress.Root>
            <Progress.Section
              value={(100 * budget.left) / Math.max(budget.quota, 1)}
              aria-label={texts.budgetLeft}
            />
          </Progress.Root>
          <Text size="sm" c="dimmed">
            {texts.budgetText(
              formats.number(budget.left),
              formats.number(budget.quota),
              budget.policy,
              formats.number(budget.seconds),
            )}
          </Text>
        </>
      )}
      <TokenBudgets />
      <Text size="sm">{texts.reached}</Text>
      <QueryView query={reached}>
        {({ items }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              {texts.noneReached}
            </Text>
          ) : (
            <List size="sm">
              {items.toReversed().map(({ id, occurred_at: at, data }) => (
                <List.Item key={id}>
                  {texts.reachedText(
                    whose[String(data["budget"])] ?? String(data["budget"]),
                    formats.number(Number(data["quota"])),
                    String(data["month"]),
                  )}{" "}
                  (<Ago at={at} />)
                </List.Item>
              ))}
            </List>
          )
        }
      </QueryView>
    </Stack>
  );
}
