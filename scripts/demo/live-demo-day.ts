import { createDemoCaller, type DemoCaller } from "./demo-caller.ts";
import {
  animate,
  beginLongFilm,
  cancelFilm,
  draw,
  drawRefused,
  openReceivers,
  present,
  produceDrama,
  type Receivers,
  writeDrama,
} from "./demo-tasks.ts";

/**
 * Runs the demo account's tasks of today on the live gateway: images, videos, an avatar, dramas, and a webhook receiver
 * that breaks and is repaired. Uses most of the demo's CPU time. The receivers stay open until the returned handle is
 * closed.
 */
export async function liveDemoDay({ baseUrl, key }: Place): Promise<Pick<Receivers, "close">> {
  const caller = createDemoCaller(baseUrl, key);
  const receivers = await openReceivers(caller);
  try {
    const mending = receivers.breakAndMend(() => draw(caller, "Birds over a meadow at sunrise"));
    // The drama takes longest and ends after the receiver is repaired, so no other event fails.
    await Promise.all([mending, produceDrama(caller, async () => await goOn(caller, await mending))]);
    // Last, because it keeps a core busy; it continues after the others.
    await beginLongFilm(caller);
  } catch (error) {
    await receivers.close();
    throw error;
  }
  return receivers;
}

/** The sandbox draws named people in images without text. */
const face = "Close-up in the garden shop, no text. Rosa: about 60, grey hair, straw hat, green apron.";

type Place = { baseUrl: string; key: string };

async function goOn(caller: DemoCaller, meadowId: string): Promise<void> {
  await Promise.all([
    cancelFilm(caller),
    writeDrama(caller),
    drawRefused(caller, "A gory battle of garden gnomes"),
    present(caller, face, "Good morning. The garden shop is open."),
    animate(caller, "Morning comes to the meadow, moving in", meadowId),
    draw(caller, "A market street in evening light", "1536x1024"),
    draw(caller, "A climbing rose on a grey wall", "1024x1536"),
  ]);
}
