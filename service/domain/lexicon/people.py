"""Nouns that name a person or an animal, for telling who a statement is about."""

from __future__ import annotations

import re

_RELATIONS = """
aunt aunty auntie uncle brother sister sibling twin triplet mother father mom mum mam mama mamma
mommy mummy dad daddy papa pop parent son daughter child children kid kiddo baby toddler newborn
infant teen teenager wife husband hubby spouse partner fiance fiancé fiancée fiancee bride groom
boyfriend girlfriend bf gf ex lover date crush friend bestie bff buddy pal mate acquaintance
neighbour neighbor colleague coworker co-worker workmate classmate teammate roommate roomie
flatmate housemate cousin nephew niece nibling grandmother grandfather grandma grandpa gran granny
grandad granddad grandpapa nan nana nanny grandparent grandson granddaughter grandchild
godmother godfather godson goddaughter godchild stepmother stepfather stepmom stepdad stepbrother
stepsister stepson stepdaughter stepchild widow widower orphan heir ancestor relative family folk
folks in-law in-laws
"""

_ROLES = """
boss manager supervisor lead leader chief head director executive ceo cto cfo coo vp president
chairman chairwoman chairperson employee employer worker staff intern apprentice trainee assistant
secretary receptionist clerk accountant auditor lawyer attorney solicitor barrister judge notary
doctor physician gp nurse midwife surgeon dentist orthodontist vet veterinarian therapist
psychologist psychiatrist counsellor counselor physio physiotherapist chiropractor paramedic
pharmacist optician carer caregiver babysitter childminder sitter au-pair teacher tutor professor
prof lecturer principal headmaster headmistress headteacher coach trainer instructor mentor mentee
student pupil undergraduate graduate postgraduate alumnus landlord landlady tenant lodger renter
owner client customer patient guest host visitor buyer seller vendor supplier contractor builder
plumber electrician carpenter roofer painter decorator mechanic engineer developer programmer
coder designer architect analyst scientist researcher chemist biologist physicist mathematician
philosopher historian economist journalist reporter editor author writer poet novelist blogger
artist musician singer drummer guitarist pianist violinist dancer actor actress comedian director
producer photographer model chef cook baker butcher waiter waitress barista bartender server driver
chauffeur pilot sailor captain soldier officer policeman policewoman cop constable detective
sergeant firefighter fireman guard janitor cleaner maid housekeeper gardener farmer fisherman hunter
miner tailor barber hairdresser stylist beautician priest pastor minister rabbi imam monk nun vicar
bishop mayor senator congressman governor minister politician diplomat ambassador banker broker
trader investor agent realtor consultant adviser advisor freelancer entrepreneur founder
shopkeeper cashier salesman saleswoman salesperson rep technician operator
"""

_GENERIC = """
person people man woman men women guy gal girl boy lad lass lady gentleman bloke dude fella chap
somebody someone everybody everyone nobody anybody anyone adult senior elder stranger fellow human
group team crew couple pair committee council board crowd audience reader listener viewer speaker
caller commenter user-friend member participant player opponent rival winner loser hero villain
character protagonist narrator king queen prince princess
"""

_ANIMALS = """
dog puppy pup doggo hound cat kitten kitty rabbit bunny hamster gerbil guinea-pig mouse rat ferret
bird parrot budgie canary chicken hen rooster duck goose fish goldfish turtle tortoise snake lizard
gecko iguana frog horse pony mare foal donkey cow calf bull goat sheep lamb pig piglet bee pet
labrador poodle terrier retriever spaniel bulldog shepherd collie husky beagle
"""

RELATIONS: frozenset[str] = frozenset(_RELATIONS.split())
"""Kin and social relations: who they are to somebody."""

PEOPLE: frozenset[str] = RELATIONS | frozenset(_ROLES.split()) | frozenset(_GENERIC.split())
ANIMALS: frozenset[str] = frozenset(_ANIMALS.split())

_PREFIX = re.compile(r"^(?:step|grand|great|god|half|co|ex|foster|ex-|co-|great-)[- ]?")
_AGENTIVE = re.compile(r"[a-z]{3,}(?:ist|ician|ologist|woman|man|person|mate|maker|keeper|ee)$")
_NOT_AGENTIVE = frozenset(
    [
        "coffee",
        "employee-handbook",
        "tree",
        "committee",
        "fee",
        "degree",
        "knee",
        "coffee-table",
        "toffee",
        "referee",
        "marquee",
        "jubilee",
        "guarantee",
        "pedigree",
        "trustee-report",
        "list",
        "wrist",
        "twist",
        "mist",
        "gist",
        "checklist",
        "playlist",
        "wishlist",
        "climate",
        "estimate",
        "stalemate",
        "talisman",
        "ultimate",
        "roommate-agreement",
        "human",
        "woman-hood",
        "automate",
    ]
) - {"referee", "human"}


def is_animate(noun: str) -> bool:
    """Return whether a noun's lemma names a person, a group of people or an animal."""
    word = noun.lower()
    if word in PEOPLE or word in ANIMALS:
        return True
    stripped = _PREFIX.sub("", word)
    if stripped != word and stripped in PEOPLE:
        return True
    if word in _NOT_AGENTIVE:
        return False
    return bool(_AGENTIVE.search(word))
