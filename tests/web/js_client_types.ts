// What the declarations accept and refuse; tsc checks it, nothing runs it.
import { Client, type Refused } from "../../clients/js/index.js";

export async function types(client: Client): Promise<string[]> {
  const { data } = await client.query({ search: "garden", limit: 5 });
  await client.signal({ type: "Goal", title: "A garden", source: "me" });
  // @ts-expect-error a question has no such member
  await client.query({ serch: "garden" });
  // @ts-expect-error an action is a text
  await client.check({ action: 3 });
  return data.nodes.map((node) => node.title);
}

export function links(error: Refused): string[] {
  return Object.values(error.links);
}
