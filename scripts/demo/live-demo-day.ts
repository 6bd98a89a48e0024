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
 * What the demo account does today, on the gateway that people look at: pictures, films, an avatar and dramas, and a receiver
 * that breaks and is mended. It takes most of the demonstration's processor time, and whoever has signed in sees it happen.
 * The receivers listen on, for what people have made themselves, until the answer is closed.
 */
export async function liveDemoDay({ baseUrl, key }: Place): Promise<Pick<Receivers, "close">> {
  const caller = createDemoCaller(baseUrl, key);
  const receivers = await openReceivers(caller);
  try {
    const mending = receivers.breakAndMend(() => draw(caller, "Birds over a meadow at sunrise"));
    // The drama takes longest. It ends long after the receiver is mended, to which nothing else is told while it is broken.
    await Promise.all([mending, produceDrama(caller, async () => await goOn(caller, await mending))]);
    // It would take a core from all the others, and goes on when they are there.
    await beginLongFilm(caller);
  } catch (error) {
    await receivers.close();
    throw error;
  }
  return receivers;
}

/** As the sandbox draws people: by their names, in a picture without lettering. */
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
