import { createDemoCaller, type DemoCaller } from "./demo-caller.ts";
import {
  beginLongFilm,
  draw,
  makeFilm,
  makePictures,
  openReceivers,
  produceDrama,
  type Receivers,
  writeDrama,
} from "./demo-tasks.ts";

/**
 * What the demo account does today, on the gateway that people look at: pictures, a film and dramas, and a receiver that
 * breaks and is mended. It takes most of the demonstration's processor time, and whoever has signed in sees it happen.
 */
export async function liveDemoDay({ baseUrl, key }: { baseUrl: string; key: string }): Promise<void> {
  const caller = createDemoCaller(baseUrl, key);
  const receivers = await openReceivers(caller);
  try {
    await beginLongFilm(caller);
    // The drama takes longest. It ends long after the receiver is mended, to which nothing else is told while it is broken.
    await Promise.all([produceDrama(caller), breakAndGoOn(caller, receivers)]);
  } finally {
    await receivers.close();
  }
}

async function breakAndGoOn(caller: DemoCaller, receivers: Receivers): Promise<void> {
  await receivers.breakAndMend(() => draw(caller, "A robin on a spade"));
  await Promise.all([
    makeFilm(caller),
    writeDrama(caller),
    draw(caller, "A long greenhouse in evening light", "1536x1024"),
    draw(caller, "A climbing rose on a grey wall", "1024x1536"),
    makePictures(caller),
  ]);
}
