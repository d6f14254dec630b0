# Evaluates the expressions in the file $DBG_EXPRESSIONS, "NUMBER<tab>EXPRESSION" a line, and prints gdb's values.
import os

import gdb

with open(os.environ["DBG_EXPRESSIONS"], encoding="utf-8") as lines, \
        open(os.environ["DBG_ANSWERS"], "w", encoding="utf-8", errors="surrogateescape") as answers:
    for line in lines:
        number, expression = line.rstrip("\n").split("\t", 1)
        try:
            text = gdb.execute("output " + expression, to_string=True)
        except gdb.error as e:
            text = "error: " + str(e)
        except Exception as e:
            text = "error: " + type(e).__name__
        answers.write(number + "\t" + text.replace("\n", " ").strip() + "\n")
        answers.flush()  # some expressions end gdb
