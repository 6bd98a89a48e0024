// A process of its own for each picture of a stranger: the decoder is native code, and whoever breaks it has one picture,
// no disk, no network and a few seconds. Started by create-picture-reader.ts, before there is a picture.
import { buffer } from "node:stream/consumers";
import "sharp";
import { readPicture } from "./read-picture.ts";

// Whatever goes wrong before this is no fault of a picture's.
process.stdout.write("ready\n");
process.stdout.write(JSON.stringify(await readPicture(await buffer(process.stdin))));
