#!/usr/bin/env node
// Starts demian-plain: demian with plain text, also where demian has a screen of its own.
import { runMain } from "../cli/command.ts";
import { ProcessIo } from "../cli/demian/io.ts";
import { main } from "../cli/demian/main.ts";
import { VERSION } from "../version.ts";

const io = new ProcessIo();
const options = { program: "demian-plain", version: VERSION, io };
await runMain(
  "demian-plain",
  () => main(process.argv.slice(2), options),
  () => io.readerGone(),
);
