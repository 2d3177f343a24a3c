// Made by `npm run generate` from src/operations/server-commands.ts.
import type { ServerCommandText } from './command.ts';

/** The commands on the server's own machine, for help and completion. */
export const SERVER_COMMANDS: readonly ServerCommandText[] = [
  {
    "name": "serve",
    "summary": "run the server, as npm start does",
    "usage": [
      "serve [--demo]"
    ],
    "options": [
      {
        "name": "--demo",
        "help": "make the demo world in an empty store first"
      }
    ],
    "examples": [
      "atrium serve",
      "DATA_DIR=./demo atrium serve --demo"
    ]
  },
  {
    "name": "migrate",
    "summary": "bring the database to the schema of this release",
    "usage": [
      "migrate [--dry-run | --status]"
    ],
    "options": [
      {
        "name": "--dry-run",
        "help": "say what would be applied, and apply nothing"
      },
      {
        "name": "--status",
        "help": "list what was applied when, and what is pending"
      }
    ],
    "examples": [
      "atrium migrate --dry-run",
      "atrium migrate"
    ]
  },
  {
    "name": "doctor",
    "summary": "look for faults of this deployment and say what to do about each; changes nothing",
    "usage": [
      "doctor [--json]"
    ],
    "options": [
      {
        "name": "--json",
        "help": "one JSON document for programs"
      }
    ],
    "examples": [
      "atrium doctor",
      "atrium doctor --json"
    ]
  },
  {
    "name": "backup",
    "summary": "write all that the database holds into one file, while servers run",
    "usage": [
      "backup FILE [--with-keys]"
    ],
    "options": [
      {
        "name": "--with-keys",
        "help": "put the root key into the file as well"
      }
    ],
    "examples": [
      "atrium backup atrium.tar.gz"
    ]
  },
  {
    "name": "restore",
    "summary": "put a backup in the place of what the database holds; servers must be stopped",
    "usage": [
      "restore FILE [--replace] [--check]"
    ],
    "options": [
      {
        "name": "--replace",
        "help": "give up what the database holds now"
      },
      {
        "name": "--check",
        "help": "only look the file through and say what is in it"
      }
    ],
    "examples": [
      "atrium restore atrium.tar.gz --check",
      "atrium restore atrium.tar.gz --replace"
    ]
  },
  {
    "name": "rotate-keys",
    "summary": "new keys for every secret, while servers run",
    "usage": [
      "rotate-keys [--retire-old-root]"
    ],
    "options": [
      {
        "name": "--retire-old-root",
        "help": "end a change of the root key that ATRIUM_NEXT_KEY began"
      }
    ],
    "examples": [
      "atrium rotate-keys"
    ]
  },
  {
    "name": "bus",
    "summary": "what a NATS server needs",
    "subcommands": [
      "config"
    ],
    "usage": [
      "bus config [--dir FOLDER]"
    ],
    "options": [
      {
        "name": "--dir",
        "value": "FOLDER",
        "help": "where the NATS server keeps its files (./atrium-bus)"
      }
    ],
    "examples": [
      "atrium bus config --dir /srv/nats > nats.conf"
    ]
  },
  {
    "name": "installer",
    "summary": "installers of marketplaces",
    "subcommands": [
      "create",
      "show",
      "link",
      "revoke"
    ],
    "usage": [
      "installer create cloudA|cloudB|cloudC [--days N] [--test]",
      "installer show ID",
      "installer link ID",
      "installer revoke ID"
    ],
    "options": [
      {
        "name": "--days",
        "value": "N",
        "help": "until when it can be bound"
      },
      {
        "name": "--test",
        "help": "an installer for tests"
      }
    ],
    "examples": [
      "atrium installer create cloudB --days 30"
    ]
  },
  {
    "name": "marketplace",
    "summary": "deliveries and secrets of the marketplace listener",
    "subcommands": [
      "log",
      "secret"
    ],
    "usage": [
      "marketplace log [--marketplace cloudB] [--state received|done|refused|dead] [--reason WORD] [--search TEXT] [--limit N] [--json]",
      "marketplace log --strangers",
      "marketplace secret add|retire cloudB|cloudC [SECRET]"
    ],
    "options": [
      {
        "name": "--marketplace",
        "value": "NAME",
        "help": "of one marketplace alone"
      },
      {
        "name": "--state",
        "value": "STATE",
        "help": "received, done, refused or dead"
      },
      {
        "name": "--reason",
        "value": "WORD",
        "help": "why it was refused"
      },
      {
        "name": "--search",
        "value": "TEXT",
        "help": "that hold this text"
      },
      {
        "name": "--limit",
        "value": "N",
        "help": "so many at most (50)"
      },
      {
        "name": "--json",
        "help": "one JSON object a line"
      },
      {
        "name": "--strangers",
        "help": "callers who proved nothing, counted by day"
      }
    ],
    "examples": [
      "atrium marketplace log --state refused"
    ]
  }
];
