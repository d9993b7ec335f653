"""Words that tell extraction what a predicate is about. Kinds of words, never sentences."""

from __future__ import annotations

HOME_VERBS = frozenset("live reside relocate settle base stay dwell".split())
EMPLOYER_VERBS = frozenset("work start join employ".split())
USE_VERBS = frozenset("use run switch migrate".split())
LIKE_VERBS = frozenset("like love enjoy adore".split())
DISLIKE_VERBS = frozenset("dislike hate loathe detest despise".split())
HAVE_VERBS = frozenset("have own possess".split())
PARTING_VERBS = frozenset("sell lose donate scrap cancel ditch uninstall".split())
QUIT_VERBS = frozenset("stop quit cease".split())
CHANGE_VERBS = frozenset(
    "move slip change shift push postpone go rise drop increase fall become extend delay".split()
)
"""With a thing as subject and "to": its value is now another."""

MOVING_IN = frozenset("to into in at on near outside".split())
PLACE_PREPOSITIONS = frozenset("in at on near by outside under behind inside".split())

USED_THINGS = {
    "os": "linux arch ubuntu fedora debian nixos mint manjaro windows macos osx ios android "
    "freebsd openbsd chromeos gentoo opensuse popos centos rhel alpine",
    "editor": "vim neovim emacs helix zed vscode sublime nano pycharm intellij webstorm cursor "
    "kakoune notepad++ atom code",
    "database": "postgres postgresql mysql mariadb sqlite mongodb redis cassandra dynamodb oracle "
    "duckdb cockroachdb",
    "browser": "firefox chrome safari edge brave vivaldi opera chromium",
    "shell": "bash zsh fish nushell powershell",
}
"""What kinds of tool there are, by words in their names."""

FRAMEWORKS = frozenset(
    "next.js nuxt react vue angular svelte sveltekit django flask rails laravel spring fastapi "
    "express nestjs godot unity unreal flutter qt electron tauri remix astro phoenix symfony "
    "ktor gin axum actix .net asp.net".split()
)
PROJECT_NOUNS = frozenset(
    "project deadline app application backend frontend api server database repo repository "
    "service firmware website site codebase library pipeline deployment staging production "
    "release build sprint milestone launch demo prototype package module framework product "
    "dashboard plugin bot cluster endpoint".split()
)
EVENT_NOUNS = frozenset(
    "appointment wedding meeting interview flight visit trip conference concert party exam test "
    "surgery operation checkup dinner lunch ceremony funeral reunion demo launch standup holiday "
    "vacation game match show recital graduation dentist call workshop review delivery".split()
)
EVENT_VERBS = frozenset(
    "visit fly meet travel attend marry graduate break win see go run finish complete".split()
)
GOAL_NOUNS = frozenset("goal plan aim dream resolution ambition target objective".split())
GOAL_VERBS = frozenset("want plan hope aim intend wish dream mean train save need try".split())
CONSTRAINT_WORDS = frozenset(
    "allergy allergic intolerant diabetic epileptic asthmatic coeliac celiac pregnant deaf blind "
    "wheelchair medication insulin".split()
)
MARITAL = frozenset("married engaged divorced single widowed separated".split())
DIETS = frozenset("vegan vegetarian pescatarian pescetarian kosher halal keto omnivore".split())
LASTING_ADJECTIVES = frozenset(
    "left-handed right-handed colour-blind color-blind colourblind colorblind short-sighted "
    "near-sighted bilingual trilingual retired self-employed unemployed freelance adopted".split()
) | MARITAL | DIETS | CONSTRAINT_WORDS  # fmt: skip

PASSING_STATES = frozenset(
    "tired hungry thirsty sleepy bored busy sick ill sad happy angry annoyed excited nervous "
    "stressed late early ready back home cold hot warm fine ok okay good great well here there "
    "sorry sure glad confused stuck lost done exhausted drunk awake away free afraid grateful "
    "curious worried upset relieved available online offline outside aware able".split()
)
PASSING_NOUNS = frozenset(
    "headache hangover question problem issue idea doubt minute second moment fever cough "
    "stomachache favour favor request feeling point clue trouble".split()
)
PASSING_PLACES = frozenset(
    "train bus way phone call plane airport road bathroom line queue taxi car break hold holiday "
    "vacation leave".split()
)
PASSING_VERBS = frozenset(
    "test ask try look wonder check write type wait read talk sit stand watch eat cook get "
    "head leave kid joke say think drive walk debug".split()
)
PASSING_TIMES = frozenset("today tonight now currently moment".split())
WEATHER = frozenset("rain snow hail drizzle thunder pour storm freeze".split())
MENTAL_VERBS = frozenset(
    "think guess suppose believe wonder know mean see understand hope agree remember forget bet "
    "say ask appreciate thank".split()
)
"""First-person verbs that say nothing lasting by themselves ("I see", "I guess so")."""

STANDING_CUES = (
    "from now on", "always", "never", "going forward", "in future", "in the future", "by default",
    "every time", "whenever", "at all times", "as a rule", "from today",
)  # fmt: skip
OPENERS = frozenset(
    "actually anyway anyways also so well sorry correction btw hi hey hello thanks oh ok okay yes "
    "yeah no and but or wait please besides plus honestly basically then still haha great cool "
    "however though alright right sure".split()
)
ASIDES = (
    "by the way", "btw", "if that helps", "fyi", "for the record", "just so you know", "you know",
    "to be honest", "tbh", "quick question", "for what it's worth", "good morning",
)  # fmt: skip
